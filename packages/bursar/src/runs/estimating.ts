import { canonicalize, type Json } from "../core/chain/canonical.js";
import { combine, readable, sourced } from "../foresight/combine.js";
import type { Estimate, SourcedOpinion } from "../foresight/estimate.js";
import { fromHistory, isDecisive } from "../foresight/from-history.js";
import type { Whose } from "../foresight/history.js";
import type { Pasts } from "../foresight/pasts.js";
import type { Sample } from "../foresight/sample.js";
import type { Known, Opinion, Predictor } from "../ports/foresight.js";
import type { Model } from "../ports/model.js";
import type { Program } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { estimateFromTerms } from "./declared-limits.js";
import { knownOf } from "./known.js";
import type { Tool } from "./tool.js";

/** Where an estimate comes from. */
export interface Sources {
  readonly store: Store;
  readonly pasts: Pasts;
  readonly timer: Timer;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly model: Model | null;
  /** Null when there is no such program. */
  readonly program: (name: string) => Program | null;
  readonly predictor: Predictor | null;
}

/** What came of it. */
export interface Estimated {
  readonly estimate: Estimate | null;
  /** What went wrong, for people. */
  readonly notes: readonly string[];
  /** Why the past could not be read; null when it could. */
  readonly unread: unknown;
}

/** Nobody waits longer than this for an opinion. */
const WAIT_MS = 30_000;
/** Programs may start each other in circles, and in each of them many others: so deep is looked, and so often. */
const DEEPEST = 4;
const MOST_BELOW = 500;

/** The size of an input, as the past knows it. */
export function sizeOf(input: Json): number {
  return Buffer.byteLength(canonicalize(input));
}

/** Asks everybody who may know what a run of a program will take. Nobody's failure is a failure of the whole. */
export async function estimateOf(
  sources: Sources,
  program: Program,
  input: Json,
  { brought = false }: { readonly brought?: boolean } = {},
): Promise<Estimated> {
  const estimating = new Estimating(sources, brought);
  const opinions = await estimating.opinionsOn(program, input, { depth: 0, brought });
  const heard = [...opinions];
  const { store, predictor } = sources;
  if (predictor !== null && !opinions.some(isDecisive)) {
    const predicted = await estimating.predicted(predictor, program, input, opinions);
    if (predicted !== null) heard.push(predicted);
  }
  const { notes, unread } = estimating;
  return { estimate: combine(heard, store.dimensions, store.clock.now().instant), notes, unread };
}

/** Where a program stands among those that start each other. */
interface Place {
  readonly depth: number;
  readonly brought: boolean;
}

/** The same goes wrong again and again where a program is started often. */
const MOST_NOTES = 20;

class Estimating {
  readonly notes: string[] = [];
  unread: unknown = null;
  private readonly sources: Sources;
  private readonly brought: boolean;
  /** Looked up once, however often a program is started below. */
  private readonly pasts = new Map<string, Promise<readonly Sample[]>>();
  private below = 0;

  constructor(sources: Sources, brought: boolean) {
    this.sources = sources;
    this.brought = brought;
  }

  /** What a program's past and the program itself say. */
  async opinionsOn(program: Program, input: Json, place: Place): Promise<readonly SourcedOpinion[]> {
    const { name, digest } = program;
    const past = fromHistory(await this.past({ name, digest, brought: place.brought }), digest, sizeOf(input));
    const speaks = program.expects !== undefined || program.terms !== undefined;
    const said = speaks
      ? await this.heard("program", `the program ${name}`, () => this.saidBy(program, input, place))
      : null;
    return [past, said].filter((each) => each !== null);
  }

  /** What a program says of itself: what it expects, else the limits that it declares. */
  private async saidBy(program: Program, input: Json, place: Place): Promise<Opinion | null> {
    const { expects, terms } = program;
    if (expects !== undefined) return expects.call(program, input, this.known(program, place));
    return terms === undefined ? null : estimateFromTerms(terms, this.sources.store.dimensions);
  }

  predicted(
    predictor: Predictor,
    { kind, name, source }: Program,
    input: Json,
    others: readonly Opinion[],
  ): Promise<SourcedOpinion | null> {
    const dimensions = this.sources.store.dimensions.all.map(({ id, unit }) => ({ id, unit }));
    const { brought } = this;
    const program = { kind, name, source: source === null ? null : canonicalize(source), brought };
    return this.heard("model", "the predictor", () => predictor.predict({ program, input, dimensions, others }));
  }

  private past(whose: Whose): Promise<readonly Sample[]> {
    const key = JSON.stringify([whose.name, whose.brought && whose.digest]);
    const known = this.pasts.get(key);
    if (known !== undefined) return known;
    const read = this.sources.pasts.of(whose).catch((error: unknown) => {
      this.unread ??= error;
      this.note(`the past of ${whose.name} could not be read`, error);
      return [];
    });
    this.pasts.set(key, read);
    return read;
  }

  private known(above: Program, { depth, brought }: Place): Known {
    const { tools, model, program, store } = this.sources;
    return knownOf({
      dimensions: store.dimensions,
      tools,
      model,
      program: async (name, input) => {
        const own = above.children?.find((child) => child.name === name);
        const below = own ?? program(name);
        if (below === null || depth >= DEEPEST || ++this.below > MOST_BELOW) return null;
        const place = { depth: depth + 1, brought: brought && own !== undefined };
        const opinions = await this.opinionsOn(below, input, place);
        const estimate = combine(opinions, store.dimensions, 0);
        if (estimate === null) return null;
        return { dimensions: estimate.dimensions, about: opinions.map(({ about }) => about).join("; ") };
      },
    });
  }

  /** What somebody says, if he says it in time and it makes sense. */
  private async heard(
    source: "program" | "model",
    who: string,
    ask: () => Promise<Opinion | null>,
  ): Promise<SourcedOpinion | null> {
    try {
      const opinion = await this.inTime(ask());
      return opinion === null ? null : sourced(opinion, source, this.sources.store.dimensions);
    } catch (error) {
      this.note(`${who} could not say what it will take`, error);
      return null;
    }
  }

  private async inTime<Value>(work: Promise<Value>): Promise<Value> {
    let alarm: Disposable | null = null;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`no answer within ${WAIT_MS / 1000} s`);
      alarm = this.sources.timer.after(WAIT_MS, () => reject(error));
    });
    return Promise.race([work, late]).finally(() => (alarm as Disposable | null)?.[Symbol.dispose]());
  }

  private note(what: string, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (this.notes.length < MOST_NOTES) this.notes.push(readable(`${what}: ${why}`));
  }
}
