import type { Amounts } from "../../core/amount.js";
import type { Json } from "../../core/chain/canonical.js";
import type { Dimensions } from "../../core/dimensions.js";
import { readAmounts } from "../../core/input.js";
import { withTotal } from "../../core/usage.js";
import type { Known, Opinion } from "../../ports/foresight.js";

/** Stand for arguments that are not known. A quote that is the same with all of them does not depend on such arguments. */
export const BLANKS: readonly Json[] = [null, "x".repeat(997), 1_000_003, [1, 2, 3, 4, 5, 6, 7]];

/** So many different things are asked; of the rest nothing is known. */
const MOST = 200;

/**
 * What others know, asked for once. Models and programs answer later than a plan is looked through, so it is looked through
 * again with their answers: nothing that a plan does depends on them.
 */
export class Questions {
  private readonly known: Known;
  private readonly models = new Map<string, Amounts | null>();
  private readonly programs = new Map<string, Opinion | null>();
  private pending = new Map<string, () => Promise<void>>();

  readonly dimensions: Dimensions;

  constructor(known: Known) {
    this.dimensions = known.dimensions;
    this.known = known;
  }

  /** The most that a call of a tool may take; null when it does not say. */
  tool(name: string, args: Json): Amounts | null {
    try {
      return this.read(this.known.tool(name, args));
    } catch {
      // A tool that cannot say what these arguments cost does not say it.
      return null;
    }
  }

  /** The same for a request to a model; null also as long as nobody has answered. */
  model(request: Json): Amounts | null {
    return this.look(`model ${JSON.stringify(request)}`, this.models, async () =>
      this.read(await this.known.model(request)),
    );
  }

  /** What is known of a program below. Asked only when everything else is known, because it may be a long question. */
  program(name: string, input: Json): Opinion | null {
    const isBusy = this.pending.size > 0 && this.programs.size === 0;
    if (isBusy) return null;
    const key = `program ${JSON.stringify([name, input])}`;
    return this.look(key, this.programs, () => this.known.program(name, input));
  }

  /** Asks what has come up; false when nothing has. */
  async ask(): Promise<boolean> {
    const { pending } = this;
    if (pending.size === 0) return false;
    this.pending = new Map();
    for (const ask of pending.values()) await ask();
    return true;
  }

  private look<Answer>(
    key: string,
    answers: Map<string, Answer | null>,
    ask: () => Promise<Answer | null>,
  ): Answer | null {
    const known = answers.get(key);
    if (known !== undefined || answers.has(key)) return known ?? null;
    const isFull = this.models.size + this.programs.size + this.pending.size >= MOST;
    if (!isFull && !this.pending.has(key)) {
      this.pending.set(key, async () => void answers.set(key, await ask().catch(() => null)));
    }
    return null;
  }

  /** What a call asks for: a step too, and both kinds of tokens together. */
  private read(quote: Parameters<typeof readAmounts>[0] | null): Amounts | null {
    if (quote === null) return null;
    return withTotal(readAmounts({ steps: 1, ...(quote as object) }, this.known.dimensions, { field: "quote" }));
  }
}
