import { type Amount, type Amounts, MAX_TOTAL, NO_AMOUNTS, NONE } from "../core/amount.js";
import type { Budget as LedgerBudget } from "../core/budget.js";
import { openBudget } from "../core/children.js";
import { decide, type Finding } from "../core/decision.js";
import { STANDARD } from "../core/dimensions.js";
import { LedgerError } from "../core/errors.js";
import { closed, type Deltas, reserve, settle } from "../core/settlement.js";
import type { Time } from "../core/time.js";
import { offAbort, onAbort } from "../runtime/abort-listeners.js";
import type { Budget } from "./budget.js";
import { NO_TOKENS, type RemainingTokens, type TokenUsage } from "./tokens.js";

const INPUT = "llm_input_tokens";
const OUTPUT = "llm_output_tokens";
const TOTAL = "llm_tokens";

/** What every model call takes at least: one token in and one out. */
const LEAST: TokenUsage = Object.freeze({ input: 1, output: 1 });

/** Tokens held for one request until it is settled. */
export interface Reservation {
  readonly asked: TokenUsage;
}

/** What a request wants to hold, given what is left now. It is asked again after each wait. */
export type Ask = (remaining: RemainingTokens) => TokenUsage;

export type Admission =
  | { readonly kind: "admitted"; readonly reservation: Reservation }
  | { readonly kind: "stopped"; readonly finding: Finding }
  | { readonly kind: "aborted" };

interface Waiter {
  readonly ask: Ask;
  readonly answer: (admission: Admission) => void;
}

const nodes = new WeakMap<Budget, BudgetNode>();

/** The node in which the usage of a budget is counted: one for each object, however many evaluations share it. */
export function nodeOf(budget: Budget): BudgetNode {
  const node = nodes.get(budget) ?? new BudgetNode(budget);
  nodes.set(budget, node);
  return node;
}

/**
 * The count of one budget, and the queue of requests that wait for tokens in flight. The rules of the core decide; this only
 * speaks their language, and lets those who have to wait go on in the order in which they came. Whoever waits does so for
 * requests in flight, which end by themselves, so the queue is as long as there are evaluations at once.
 */
export class BudgetNode {
  /** Errors raised for this budget, so that a parent knows its own from those of other budgets. */
  readonly raised: WeakSet<object> = new WeakSet();
  /** Replaced by the rules of the core with every change. */
  private counted: LedgerBudget;
  private time: Time = { instant: 0, monotonic: 0 };
  private readonly limit: RemainingTokens;
  private readonly deadline: number | null;
  private readonly waiting: Waiter[] = [];
  private guessed = false;
  private late = false;

  /** Without a budget it counts and limits nothing. */
  constructor(budget: Budget | null) {
    this.limit = budget?.tokenLimit ?? { input: null, output: null };
    this.deadline = budget?.deadline?.at ?? null;
    const limits: Record<string, Amount> = {};
    if (this.limit.input !== null) limits[INPUT] = this.limit.input as Amount;
    if (this.limit.output !== null) limits[OUTPUT] = this.limit.output as Amount;
    const grant = { kind: "limits", limits } as const;
    const opening = { id: "prompt", scope: "run", grant, thresholds: [], deadline: this.deadline } as const;
    const { budget: counted } = openBudget([], opening, this.time, STANDARD);
    if (counted === null) throw new LedgerError("a root is never refused");
    this.counted = counted;
  }

  /** Passes the time in. A deadline seen to have passed stays passed, even if somebody sets the clock back. */
  at(time: Time): void {
    if (this.deadline !== null && time.instant >= this.deadline) this.late = true;
    const instant = this.late ? Math.max(time.instant, this.deadline ?? 0) : time.instant;
    this.time = { monotonic: time.monotonic, instant };
  }

  get isLate(): boolean {
    return this.late;
  }

  /** Whether some of the usage is an estimate. */
  get estimated(): boolean {
    return this.guessed;
  }

  usage(): TokenUsage {
    const { used } = this.counted;
    return Object.freeze({ input: used[INPUT] ?? NONE, output: used[OUTPUT] ?? NONE });
  }

  /** What stops any further call, or null. Tokens in flight stop nobody: they are waited for. */
  stop(): Finding | null {
    const decision = decide([this.counted], this.amounts(LEAST), this.time, STANDARD);
    const finding = decision.findings[0];
    return decision.kind === "admitted" || decision.kind === "busy" ? null : (finding ?? null);
  }

  /** Reserves tokens, after those who came before, or as soon as the requests that hold them are settled. */
  reserve(ask: Ask, signal: AbortSignal): Promise<Admission> {
    if (signal.aborted) return Promise.resolve({ kind: "aborted" });
    const admission = this.waiting.length > 0 ? null : this.take(ask);
    if (admission !== null) return Promise.resolve(admission);
    return new Promise((resolve) => {
      const leave = (): void => {
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
        resolve({ kind: "aborted" });
        this.serve();
      };
      const answer = (given: Admission): void => {
        offAbort(signal, leave);
        resolve(given);
      };
      const waiter: Waiter = { ask, answer };
      this.waiting.push(waiter);
      onAbort(signal, leave);
    });
  }

  /** Replaces a reservation by what was used. */
  commit({ asked }: Reservation, used: TokenUsage, estimated: boolean): void {
    this.settle(asked, this.amounts(used, asked));
    if (estimated) this.guessed = true;
    this.serve();
  }

  /** Gives a reservation back for a request that was never made. */
  release({ asked }: Reservation): void {
    this.settle(asked, NO_AMOUNTS);
    this.serve();
  }

  /** Counts what a tool used. */
  charge(used: TokenUsage, estimated: boolean): void {
    this.book(NO_AMOUNTS, this.amounts(used));
    if (estimated) this.guessed = true;
    this.serve();
  }

  /** Puts right what was charged for a request, when its usage is reported after all. */
  correct(charged: TokenUsage, used: TokenUsage): void {
    const { input, output } = this.fitting(used, charged);
    const deltas = { [INPUT]: input - charged.input, [OUTPUT]: output - charged.output };
    this.book(NO_AMOUNTS, { ...deltas, [TOTAL]: input + output - charged.input - charged.output });
    this.serve();
  }

  /** Null when it has to wait. */
  private take(ask: Ask): Admission | null {
    const used = this.usage();
    const asked = this.fitting(
      ask({
        input: this.limit.input === null ? null : this.limit.input - used.input,
        output: this.limit.output === null ? null : this.limit.output - used.output,
      }),
    );
    const { path, decision } = reserve([this.counted], amountsOf(asked), this.time, STANDARD);
    this.replace(path[0]);
    if (decision.kind === "admitted") return { kind: "admitted", reservation: { asked } };
    const [finding] = decision.findings;
    return decision.kind === "busy" || finding === undefined ? null : { kind: "stopped", finding };
  }

  private serve(): void {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const admission = this.take(next.ask);
      if (admission === null) return;
      this.waiting.shift();
      next.answer(admission);
    }
  }

  /** Frees what was reserved and counts what was used in its place. */
  private settle(asked: TokenUsage, used: Amounts): void {
    this.book(amountsOf(asked), used);
    this.replace(closed([this.counted])[0]);
  }

  private book(released: Deltas, used: Deltas): void {
    this.replace(settle([this.counted], released, used, this.time, STANDARD).path[0]);
  }

  private replace(budget: LedgerBudget = this.counted): void {
    this.counted = budget;
  }

  private amounts(usage: TokenUsage, freed: TokenUsage = NO_TOKENS): Amounts {
    return amountsOf(this.fitting(usage, freed));
  }

  /** Cuts a figure that no counter could hold exactly, such as a broken report, to what still fits. */
  private fitting({ input, output }: TokenUsage, freed: TokenUsage = NO_TOKENS): TokenUsage {
    const { used, reserved } = this.counted;
    const room = MAX_TOTAL - (used[TOTAL] ?? NONE) - (reserved[TOTAL] ?? NONE) + freed.input + freed.output;
    const first = Math.min(input, room);
    return { input: first, output: Math.min(output, room - first) };
  }
}

function amountsOf({ input, output }: TokenUsage): Amounts {
  return { [INPUT]: input as Amount, [OUTPUT]: output as Amount, [TOTAL]: (input + output) as Amount };
}
