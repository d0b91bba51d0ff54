/// <reference lib="esnext.disposable" preserve="true" />
import { type Amount, type Amounts, amount } from "../core/amount.js";
import { fractionOf } from "../core/decimal.js";
import { InputError, show } from "../core/errors.js";
import type { Clock } from "../ports/clock.js";
import { systemClock } from "../runtime/system-clock.js";
import { Account } from "./account.js";
import { type Budget, readBudget } from "./budget.js";
import { noteOffer, warnOfCopy } from "./copied-offer.js";
import {
  COST,
  DEPTH,
  DEPTH_REACHED,
  INPUT_TOKENS,
  ITERATIONS,
  OUTPUT_TOKENS,
  SUBCALLS,
  TIME,
  TOKENS,
  written,
} from "./dimensions.js";
import { readFields, readWord } from "./input.js";
import { type Recording, type Remaining, readRecording, type Usage } from "./usage.js";
import type { OnWarning } from "./warnings.js";

export type { Clock } from "../ports/clock.js";
export { type Budget, DEFAULT_BUDGET } from "./budget.js";
export type { Recording, Remaining, Usage } from "./usage.js";
export type { OnWarning } from "./warnings.js";

/** What a controller is asked about: another round of its own loop, or a call one level deeper. */
export type Operation = "iteration" | "subcall";

/** Why a controller is blocked. */
export type BlockReason =
  | "Cost budget exhausted"
  | "Token budget exhausted"
  | "Time budget exhausted"
  | "Max iterations reached";

export interface ControllerOptions {
  /** The machine's own clock unless given. A child runs on its parent's. */
  readonly clock?: Clock;
}

const OPERATIONS: readonly Operation[] = ["iteration", "subcall"];

/** In the order in which they are given. */
const REASONS: readonly (readonly [dimension: string, reason: BlockReason])[] = [
  [COST, "Cost budget exhausted"],
  [TOKENS, "Token budget exhausted"],
  [TIME, "Time budget exhausted"],
  [ITERATIONS, "Max iterations reached"],
];

/** What a sub-budget stands for, in ledger units. */
interface Offer {
  readonly account: Account;
  readonly most: Amounts;
}

/** The sub-budgets handed out, by identity: a copy of one is a budget like any other, and attaches to nothing. */
const offers = new WeakMap<object, Offer>();

/**
 * A budget for an agent's loop: ask with `canProceed` before a call, tell with `record` after it.
 *
 * Every limit left out takes its value from `DEFAULT_BUDGET`; `null` is no limit and `0` is nothing of it.
 *
 * @example
 * ```ts
 * const controller = new BudgetController({ maxCost: 1, maxTime: null }, (warning) => console.warn(warning));
 *
 * while (controller.canProceed("iteration")) {
 *   controller.record({ iteration: true, cost: 0.1, inputTokens: 900, outputTokens: 100 });
 * }
 *
 * controller.getUsage().cost; // 1, after ten rounds
 * controller.getBlockReason(); // "Cost budget exhausted"
 * ```
 *
 * Given what `getSubBudget` returned, that very object and no copy of it, it becomes a child: as much as it may use is held in its parent,
 * clipped to what is free there at that moment, and what it records of cost, tokens and time counts in both. Its iterations and
 * its depth are its own. It may get nothing; then it is blocked from the start. It has to be ended, so that the rest is free again.
 *
 * @example
 * ```ts
 * const parent = new BudgetController({ maxCost: 10 });
 *
 * if (parent.canProceed("subcall")) {
 *   using child = new BudgetController(parent.getSubBudget());
 *   parent.getRemaining().cost; // 5: the other half is held
 *   child.record({ cost: 2 });
 * }
 *
 * parent.getRemaining().cost; // 8
 * ```
 */
export class BudgetController implements Disposable {
  private readonly account: Account;

  /** @throws InputError when something cannot be used; its `field` says what. */
  constructor(budget: Partial<Budget> = {}, onWarning?: OnWarning, options: ControllerOptions = {}) {
    if (onWarning !== undefined && typeof onWarning !== "function") {
      throw new InputError("onWarning", `is ${show(onWarning)}; allowed: a function`);
    }
    const clock = readClock(options);
    const listener = onWarning ?? null;
    const offer = typeof budget === "object" && budget !== null ? offers.get(budget) : undefined;
    if (offer === undefined) {
      this.account = Account.root(readBudget(budget), clock ?? systemClock, listener);
      warnOfCopy(budget);
      return;
    }
    const { account, most } = offer;
    if (clock !== null && clock !== account.clock) {
      throw new InputError("clock", "is not the parent's; leave it out, a child runs on its parent's clock");
    }
    this.account = account.child(most, listener);
  }

  /**
   * Whether there is room for another operation: some cost, tokens and time, for an iteration also an iteration, and for a
   * subcall a level below `depth`, which counts from this controller. Nothing is used up by asking, but a warning about
   * time is given here when it is due. What `onWarning` throws comes out of here.
   */
  canProceed(operation: Operation, depth = 0): boolean {
    readWord(operation, "operation", OPERATIONS);
    const asked = needs(operation, amount(depth, "depth") + 1);
    this.account.tick();
    if (this.account.ended) return false;
    return !this.account.findings(asked).some(({ dimension }) => dimension === TIME || dimension in asked);
  }

  /**
   * Adds what was used, here and in every controller above, but for iterations and depth, which are each controller's own: all of
   * it, or none when a value cannot be used. It is never
   * refused for being too much, because it has happened. What `onWarning` throws comes out of here, after everything is
   * recorded and every other warning given.
   *
   * @throws InputError when a value cannot be used; its `field` says which.
   * @throws LedgerError when the controller has ended.
   */
  record(usage: Recording): void {
    this.account.charge(readRecording(usage));
  }

  /**
   * The budget a child called from `depth` would get: half of the cost, tokens and time that remain, half of the iterations
   * there were, rounded up, and `depth + 1` levels less. It is a question: nothing is held before a child is made of it.
   *
   * @throws LedgerError when the controller has ended.
   */
  getSubBudget(depth = 0): Budget {
    const { account } = this;
    account.assertOpen();
    const below = amount(depth, "depth") + 1;
    const free = account.free();
    const most: Record<string, Amount> = {};
    for (const id of [COST, TOKENS, TIME]) {
      if (Number.isFinite(free(id))) most[id] = fractionOf(free(id), 0.5);
    }
    const iterations = account.limit(ITERATIONS);
    if (Number.isFinite(iterations)) most[ITERATIONS] = Math.ceil(iterations / 2) as Amount;
    const depths = account.limit(DEPTH);
    if (Number.isFinite(depths)) most[DEPTH] = Math.max(0, depths - below) as Amount;
    const upTo = (id: string) => written(id, most[id] ?? Number.POSITIVE_INFINITY);
    const sub: Budget = Object.freeze({
      maxCost: upTo(COST),
      maxTokens: upTo(TOKENS),
      maxTime: upTo(TIME),
      maxDepth: upTo(DEPTH),
      maxIterations: upTo(ITERATIONS),
    });
    offers.set(sub, { account, most });
    noteOffer(sub);
    return sub;
  }

  /** What was used until now: cost, tokens and subcalls with those of its children, time, and its own iterations and depth. */
  getUsage(): Usage {
    const used = this.account.used();
    const read = (id: string) => written(id, used(id)) as number;
    return {
      cost: read(COST),
      tokens: read(TOKENS),
      inputTokens: read(INPUT_TOKENS),
      outputTokens: read(OUTPUT_TOKENS),
      duration: read(TIME),
      iterations: read(ITERATIONS),
      subcalls: read(SUBCALLS),
      maxDepthReached: read(DEPTH_REACHED),
    };
  }

  /** What may still be used: without what is used and what is held for children, never below 0, `null` without a limit. */
  getRemaining(): Remaining {
    const free = this.account.free();
    const read = (id: string) => written(id, free(id));
    return {
      cost: read(COST),
      tokens: read(TOKENS),
      time: read(TIME),
      depth: read(DEPTH),
      iterations: read(ITERATIONS),
    };
  }

  /**
   * Why `canProceed("iteration")` says no, or `null` when nothing is in the way. Amounts that children hold are not there
   * either, as long as they hold them.
   */
  getBlockReason(): BlockReason | null {
    const findings = this.account.blocker.findings(needs("iteration", 0));
    return REASONS.find(([id]) => findings.some(({ dimension }) => dimension === id))?.[1] ?? null;
  }

  /**
   * Ends the controller: what is left of it is free in its parent again, its time stops, and it takes nothing more.
   * Ending twice does no harm.
   *
   * @throws LedgerError when a child has not ended yet.
   */
  end(): void {
    this.account.end();
  }

  [Symbol.dispose](): void {
    this.end();
  }
}

/**
 * One unit of all that an operation needs, and of nothing else: a loop that has had its rounds may still call deeper from
 * the last of them. Time need not be asked for, it passes for everybody.
 */
function needs(operation: Operation, level: number): Amounts {
  const one = 1 as Amount;
  const both = { [COST]: one, [TOKENS]: one };
  return operation === "iteration" ? { ...both, [ITERATIONS]: one } : { ...both, [DEPTH]: level as Amount };
}

function readClock(options: unknown): Clock | null {
  const fields = readFields(options, "options", ["clock"]);
  if (!("clock" in fields)) return null;
  const clock = fields.clock;
  if (typeof clock !== "object" || clock === null || typeof (clock as Partial<Clock>).now !== "function") {
    throw new InputError("clock", `is ${show(clock)}; allowed: an object with a method now()`);
  }
  return clock as Clock;
}
