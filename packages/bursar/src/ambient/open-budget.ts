import type { Budget, BudgetId, Scope } from "../core/budget.js";
import type { Opening } from "../core/children.js";
import { InputError, LedgerError, show } from "../core/errors.js";
import { Events } from "../core/events.js";
import { explainDecision } from "../core/explain.js";
import { checkKeys, checkWait } from "../core/fields.js";
import {
  type BudgetAmounts,
  type BudgetLimits,
  type BudgetPolicies,
  readExtension,
  readLimits,
  readPolicies,
} from "../core/input.js";
import { noRoom } from "../core/refused.js";
import type { Clock } from "../ports/clock.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { Gate } from "../runtime/gate.js";
import { newName } from "../runtime/names.js";
import { type ApprovalQuestion, currentPurse, type Purse, type PurseMark, withPurse } from "../runtime/purse.js";
import { placeOf } from "../runtime/savings.js";
import { MemoryStore } from "../stores/memory.js";
import { lastingResult } from "./lasting-result.js";
import { warnUnused } from "./unused-budget.js";

export interface OpenBudgetOptions {
  /** Where it is kept: in memory unless a store is given. Inside of another budget it is kept where that one is, by its clock. */
  readonly store?: Store;
  /** Its name in the store. A budget of that name which has not ended goes on, with the limits it was opened with. */
  readonly name?: string;
  /** The budget it lies in: the ambient one unless it is said, null for none. */
  readonly parent?: BudgetId | null;
  readonly policies?: BudgetPolicies;
  /**
   * Whose it is. On that of one run, which it is unless it is said, a call that is too large for what is left sets off the policy:
   * `hard_stop` ends it. On a `shared` one that call alone is refused, and smaller ones of others pass.
   */
  readonly scope?: Scope;
  /** Percentages at which a warning is recorded: 50 and 80. */
  readonly thresholds?: readonly number[];
  readonly deadline?: Date | null;
  /** Asked when a dimension with the policy `approval_required` is exhausted: what to add, or null. */
  readonly approve?: (request: ApprovalQuestion) => Promise<BudgetAmounts | null>;
  /** How long a call waits for what other calls hold: 30,000. */
  readonly wait_ms?: number;
  readonly clock?: Clock;
  readonly timer?: Timer;
}

const KEYS = [
  "store",
  "name",
  "parent",
  "policies",
  "scope",
  "thresholds",
  "deadline",
  "approve",
  "wait_ms",
  "clock",
  "timer",
];
const SCOPES: readonly unknown[] = ["run", "shared"] satisfies readonly Scope[];

/**
 * Opens a budget that calls can be made in. Only what is named is limited: there are no defaults here.
 *
 * @example
 * ```ts
 * await using budget = await openBudget({ cost_usd: 5 }, { store: await openStore("sqlite:budgets.db"), name: "nightly" });
 * const client = new OpenAI({ fetch: governedFetch({ budget }) });
 * ```
 */
export async function openBudget(limits: BudgetLimits, options: OpenBudgetOptions = {}): Promise<OpenBudget> {
  checkKeys(options, "options", KEYS);
  if (options.approve !== undefined && typeof options.approve !== "function") {
    throw new InputError("options.approve", `is ${show(options.approve)}; allowed: a function`);
  }
  if (options.wait_ms !== undefined) checkWait(options.wait_ms, "options.wait_ms");
  const around = surrounding(options);
  const owned = around === null ? ownGate(options) : null;
  const { gate, store } = around ?? (owned as Owned);
  const parent = options.parent ?? around?.budget ?? null;
  const id = options.name ?? `budget-${newName(store.clock.now().instant)}`;
  try {
    await enter(store, id, limits, { ...options, parent });
    const chain = await chainOf(store, id, parent, around);
    const approve = options.approve ?? around?.approve;
    const wait_ms = options.wait_ms ?? around?.wait_ms;
    const purse: Purse = {
      gate,
      store,
      budget: id,
      chain,
      ...sitedIn(around),
      ...(approve !== undefined && { approve }),
      ...(wait_ms !== undefined && { wait_ms }),
    };
    return new OpenBudget(purse, owned?.gate ?? null);
  } catch (error) {
    owned?.gate[Symbol.dispose]();
    throw error;
  }
}

/** Calls in a budget come from where those around it do. */
function sitedIn(around: Purse | null): Partial<Pick<Purse, "site" | "within" | "full">> {
  const { site, within, full } = around ?? {};
  return {
    ...(site !== undefined && { site }),
    ...(within !== undefined && { within }),
    ...(full !== undefined && { full }),
  };
}

/** The budget that a new one lies in. No budget reaches over two stores, and one that leaves its surroundings has to say so. */
function surrounding({ parent, store }: OpenBudgetOptions): Purse | null {
  const around = parent === null ? null : currentPurse();
  if (around === null || store === undefined || store === around.store) return around;
  const what = `another one than that of budget ${around.budget}, which this one would lie in`;
  throw new InputError("options.store", `is ${what}; leave it out, or say parent: null for a budget that lies in none`);
}

interface Owned {
  readonly gate: Gate;
  readonly store: Store;
}

function ownGate({ store: given, wait_ms, clock, timer }: OpenBudgetOptions): Owned {
  const store = given ?? new MemoryStore(clock === undefined ? {} : { clock });
  const gate = new Gate({
    store,
    ...(wait_ms !== undefined && { wait_ms }),
    ...(clock !== undefined && { clock }),
    ...(timer !== undefined && { timer }),
  });
  return { gate, store };
}

/** Opens the budget, or goes on with one of the same name. */
async function enter(
  store: Store,
  id: BudgetId,
  limits: BudgetLimits,
  options: OpenBudgetOptions & { readonly parent: BudgetId | null },
): Promise<void> {
  const known = options.name === undefined ? null : await store.budget(id);
  if (known?.ended) throw new LedgerError(`budget ${id} has ended; give the new one another name`);
  const { parent } = options;
  // Also where the budget goes on with those it has: what is mistyped now would be no limit the next time.
  const wanted = opening(store, id, limits, options);
  if (known === null) {
    const [{ budget, decision }] = await store.apply([{ op: "open", parent, opening: wanted }]);
    if (budget === null) {
      throw new LedgerError(
        `budget ${parent} takes no further budgets: ${explainDecision(decision, store.dimensions)}`,
      );
    }
  } else if (known.parent !== parent) {
    throw new LedgerError(`budget ${id} lies in ${known.parent ?? "no other"}, not in ${parent ?? "none"}`);
  }
}

/** The chain it writes into. What lies in the budget around writes where that one does; else it has to be looked for. */
async function chainOf(store: Store, id: BudgetId, parent: BudgetId | null, around: Purse | null): Promise<string> {
  if (parent === null) return id;
  if (around !== null && parent === around.budget) return around.chain;
  return (await placeOf(store, id)).chain ?? parent;
}

/**
 * What is not named has no limit here: somebody who limits dollars does not want to be stopped by the clock. Nor are limits cut to
 * what the budgets above have left: those are asked with every call, and what they get more counts at once.
 */
function opening(store: Store, id: BudgetId, limits: BudgetLimits, options: OpenBudgetOptions): Opening {
  const { policies = {}, scope = "run", thresholds, deadline = null } = options;
  if (!SCOPES.includes(scope)) {
    throw new InputError("options.scope", `is ${show(scope)}; allowed: ${SCOPES.join(" and ")}`);
  }
  if (deadline !== null && !(deadline instanceof Date)) {
    throw new InputError("options.deadline", `is ${show(deadline)}; allowed: a Date, or null for none`);
  }
  return {
    id,
    scope,
    deadline: deadline === null ? null : deadline.getTime(),
    grant: { kind: "limits", limits: readLimits(limits, store.dimensions) },
    policies: readPolicies(policies, store.dimensions),
    ...(thresholds !== undefined && { thresholds }),
  };
}

/** How a budget stands, in edge units. */
export interface BudgetState {
  readonly limits: BudgetAmounts;
  readonly used: BudgetAmounts;
  /** The limit minus what is used. */
  readonly remaining: BudgetAmounts;
  /** What is held of it, for calls in flight and for budgets below: no other call can use that. */
  readonly held: BudgetAmounts;
  /** The dimensions that take no further calls. */
  readonly exhausted: readonly string[];
}

/**
 * A budget that calls are made in: those inside of `run`, and those of whatever was given it by name. It ends when it is
 * disposed; calls that are still being made then are settled first.
 */
export class OpenBudget implements AsyncDisposable {
  readonly id: BudgetId;
  private readonly paying: Purse;
  private readonly mark: PurseMark = { isUsed: false };
  private readonly events: Events;
  private readonly own: Disposable | null;
  private ending: Promise<void> | null = null;

  constructor(purse: Purse, own: Disposable | null) {
    this.id = purse.budget;
    this.paying = { ...purse, mark: this.mark };
    this.events = new Events(purse.store.dimensions);
    this.own = own;
  }

  /** What pays for calls that are made from it. Who asks for it governs something. */
  get purse(): Purse {
    this.mark.isUsed = true;
    return this.paying;
  }

  /** Runs a function in which every governed call is paid for by this budget, however deep it is made. */
  run<Value>(work: () => Value): Value {
    return withPurse(this.paying, work);
  }

  /**
   * What a function has given back, which may be read only afterwards: the budget stays open for it, and ends with it. Null for
   * anything else.
   */
  lasting<Value>(value: Value, timer: Timer): { readonly value: Value } | null {
    return lastingResult(value, this.paying, timer, () => void this.end().catch(() => {}));
  }

  /** Nothing is missed in a budget whose function has failed before its first call. */
  excuse(): void {
    this.mark.isUsed = true;
  }

  async state(): Promise<BudgetState> {
    const { store } = this.paying;
    const budget = await this.read();
    const time = store.clock.now();
    return {
      limits: this.events.limits(budget) as BudgetAmounts,
      used: this.events.consumed(budget, time) as BudgetAmounts,
      remaining: this.events.remaining(budget, time) as BudgetAmounts,
      held: this.events.held(budget) as BudgetAmounts,
      exhausted: budget.exhausted,
    };
  }

  /** Adds to limits, all of it or nothing. It is for people and for code that decides for them, never for the agent itself. */
  async extend(
    additional: BudgetAmounts,
    by: { readonly approved_by?: string; readonly reason?: string } = {},
  ): Promise<void> {
    const { store } = this.paying;
    const amounts = readExtension(additional, store.dimensions);
    const { approved_by = "operator", reason = null } = by;
    const [{ result }] = await store.apply([
      { op: "extend", budget: this.id, additional: amounts, approved_by, reason },
    ]);
    if (result.kind === "no_room") throw noRoom(result, store.dimensions);
  }

  /** The lines of its chain, ready for `verifyChain` or a file. */
  chain(): AsyncIterable<string> {
    return this.paying.store.chain(this.paying.chain);
  }

  /** Whether calls or budgets inside of it are still under way. */
  async isBusy(): Promise<boolean> {
    return (await this.read()).open > 0;
  }

  /** Ends the budget once nothing is under way in it. Ending twice does no harm. */
  end(): Promise<void> {
    this.ending ??= this.finish();
    return this.ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  private async finish(): Promise<void> {
    const { store } = this.paying;
    try {
      for (;;) {
        using quiet = changed(store);
        const { ended, open, used } = await this.read();
        if (ended) return;
        if (open > 0) await quiet.next;
        else if (await this.tryEnd()) {
          if (!this.mark.isUsed && Object.values(used).every((amount) => amount === 0)) warnUnused(this.id);
          return;
        }
      }
    } finally {
      this.own?.[Symbol.dispose]();
    }
  }

  /** Somebody may have begun a call just now: then it is not over yet. */
  private async tryEnd(): Promise<boolean> {
    try {
      await this.paying.store.apply([{ op: "end", budget: this.id }]);
      return true;
    } catch (error) {
      if (error instanceof LedgerError && (await this.read()).open > 0) return false;
      throw error;
    }
  }

  private async read(): Promise<Budget> {
    const budget = await this.paying.store.budget(this.id);
    if (budget === null) throw new LedgerError(`there is no budget ${this.id}`);
    return budget;
  }
}

/** Waits for the next sign that something in a store has changed. */
function changed(store: Store): Disposable & { readonly next: Promise<void> } {
  let watching: Disposable | null = null;
  const next = new Promise<void>((resolve) => {
    watching = store.watch(() => resolve());
  });
  return { next, [Symbol.dispose]: () => watching?.[Symbol.dispose]() };
}
