import {
  type BudgetId,
  type BudgetLimits,
  type BudgetState,
  type Gated,
  type GatedCall,
  type OpenBudget,
  openBudget,
  type Store,
} from "bursar";
import { CodeSessions, type CodeSessionsOptions } from "./code-sessions.js";
import { CODE_LIMITS } from "./options.js";
import { ToolError } from "./said.js";

export interface WorkplaceOptions extends CodeSessionsOptions {
  readonly store: Store;
  readonly limits?: BudgetLimits;
  readonly parent?: BudgetId | null;
  /** What its budget is called in the store. */
  readonly name: string;
}

/** How long code waits for what other code of the same budget holds. */
const WAIT_MS = 10_000;
const END_MS = 5000;
/** So many calls may be under way or wait at the same time: each holds its code in memory. */
const MOST_ACTIVE = 16;

/**
 * Where one principal's code is executed: its sessions, and the budget that pays for all of them. The budget is opened with the
 * first call. Its clock runs while something is executed and stands still between: a conversation has pauses that cost nothing.
 */
export class Workplace implements AsyncDisposable {
  readonly sessions: CodeSessions;
  readonly limits: BudgetLimits;
  readonly budgetId: BudgetId;
  private readonly options: WorkplaceOptions;
  private opening: Promise<OpenBudget> | null = null;
  private active = 0;
  private isRunning = false;
  private clock: Promise<void> = Promise.resolve();

  constructor(options: WorkplaceOptions) {
    this.options = options;
    this.limits = options.limits ?? CODE_LIMITS;
    this.budgetId = options.name;
    this.sessions = new CodeSessions(options, this.limits);
  }

  /** The budget, opened if it is not yet. */
  budget(): Promise<OpenBudget> {
    this.opening ??= this.open().catch((error: unknown) => {
      // A store that was away for a moment must not stay away for this connection.
      this.opening = null;
      throw error;
    });
    return this.opening;
  }

  async state(): Promise<BudgetState> {
    return (await this.budget()).state();
  }

  /** Makes a call that this budget pays for. */
  async pay<Value>(
    call: Omit<GatedCall, "budget">,
    effect: Parameters<OpenBudget["purse"]["gate"]["call"]>[1],
  ): Promise<Gated<Value>> {
    if (this.active >= MOST_ACTIVE) {
      throw new ToolError(
        `${MOST_ACTIVE} calls of yours are under way, the most allowed.`,
        "wait until one has ended.",
      );
    }
    this.active++;
    try {
      const budget = await this.budget();
      // No call is admitted below a clock that stands still.
      await this.setClock();
      const gated = await budget.purse.gate.call({ budget: budget.id, wait_ms: WAIT_MS, ...call }, effect);
      return gated as Gated<Value>;
    } finally {
      this.active--;
      await this.setClock();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sessions[Symbol.asyncDispose]();
    const budget = await this.opening?.catch(() => null);
    if (budget === undefined || budget === null) return;
    // What is still under way was stopped with its session; whoever hangs all the same is settled by a sweeper.
    let timer: NodeJS.Timeout | null = null;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, END_MS);
    });
    await Promise.race([budget.end().catch(() => {}), late]);
    if (timer !== null) clearTimeout(timer);
  }

  private async open(): Promise<OpenBudget> {
    const { store, parent = null, name } = this.options;
    const budget = await openBudget(this.limits, { store, parent, name });
    await store.apply([{ op: "pause", budget: budget.id }]);
    return budget;
  }

  /** Starts or stops the clock, whichever is due when its turn has come. */
  private setClock(): Promise<void> {
    const turn = this.clock.then(async () => {
      const wanted = this.active > 0;
      if (wanted === this.isRunning) return;
      const op = wanted ? "resume" : "pause";
      await this.options.store.apply([{ op, budget: this.budgetId }]);
      this.isRunning = wanted;
    });
    this.clock = turn.catch(() => {});
    return turn;
  }
}
