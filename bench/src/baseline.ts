/** What one level of bare counters may use. */
export interface BareBudget {
  readonly maxCost: number;
  readonly maxTokens: number;
  readonly maxTime: number;
  readonly maxDepth: number;
  readonly maxIterations: number;
}

/** What one call adds to bare counters. */
export interface BareUsage {
  readonly cost?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly iteration?: boolean;
}

/**
 * What a careful programmer writes without a ledger: counters, a check before a call and a record after it. It is what
 * Bursar is compared with, so it is written to be quick. It guarantees nothing: two calls may pass the check together,
 * money is a double, and a level knows nothing of the others.
 */
export class BareCounters {
  private readonly budget: BareBudget;
  private readonly onWarning: (warning: string) => void;
  private readonly started: number = Date.now();
  private readonly warned = new Set<string>();
  private readonly usage = { cost: 0, tokens: 0, inputTokens: 0, outputTokens: 0, duration: 0, iterations: 0 };

  constructor(budget: BareBudget, onWarning: (warning: string) => void) {
    this.budget = budget;
    this.onWarning = onWarning;
  }

  canProceed(operation: "iteration" | "subcall", depth: number): boolean {
    const { usage, budget } = this;
    usage.duration = Date.now() - this.started;
    if (usage.cost >= budget.maxCost || usage.tokens >= budget.maxTokens) return false;
    if (usage.duration >= budget.maxTime) return false;
    if (operation === "iteration" && usage.iterations >= budget.maxIterations) return false;
    if (operation === "subcall" && budget.maxDepth > 0 && depth >= budget.maxDepth) return false;
    this.warn("cost", usage.cost / budget.maxCost);
    this.warn("tokens", usage.tokens / budget.maxTokens);
    this.warn("time", usage.duration / budget.maxTime);
    return true;
  }

  record({ cost, inputTokens, outputTokens, iteration }: BareUsage): void {
    const { usage } = this;
    if (cost !== undefined) usage.cost += cost;
    if (inputTokens !== undefined) {
      usage.inputTokens += inputTokens;
      usage.tokens += inputTokens;
    }
    if (outputTokens !== undefined) {
      usage.outputTokens += outputTokens;
      usage.tokens += outputTokens;
    }
    if (iteration === true) usage.iterations++;
    usage.duration = Date.now() - this.started;
  }

  private warn(what: string, share: number): void {
    if (share < 0.8 || this.warned.has(what)) return;
    this.warned.add(what);
    this.onWarning(`${what} at ${Math.round(share * 100)} % of the budget`);
  }
}
