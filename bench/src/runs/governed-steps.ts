import { type BudgetLimits, defineAgent, type Model, openBursar, type RunResult, type Store } from "bursar";

/** As `Runs` of bench/store: eight limited dimensions, and as much asked for, used and given back in each step. */
const MUCH = 9_000_000_000_000;
const LIMITS: BudgetLimits = {
  steps: MUCH,
  llm_tokens: MUCH,
  llm_input_tokens: MUCH,
  llm_output_tokens: MUCH,
  cost_usd: 1_000_000,
  network_egress_bytes: MUCH,
  storage_write_bytes: MUCH,
  fuel: MUCH,
  wall_clock_ms: null,
};
const ANSWER = "x".repeat(100);
/** It takes no time, so that all the time is ours. */
const MODEL: Model = {
  quote: () => ({ llm_tokens: 2000, llm_input_tokens: 1000, llm_output_tokens: 1000, cost_usd: 0.02 }),
  call: async () => ({ value: ANSWER, usage: { llm_input_tokens: 900, llm_output_tokens: 120, cost_usd: 0.004 } }),
};

/** A TypeScript program in a session, which makes as many governed calls at a time as it is told to. */
export class GovernedSteps {
  private readonly ended: Promise<RunResult>;
  private tell: (count: number) => void = () => {};
  private done: () => void = () => {};

  static async open(store: Store): Promise<GovernedSteps> {
    const bursar = openBursar({ store, model: MODEL });
    await bursar.openSession("bench", LIMITS);
    return new GovernedSteps((program) => bursar.run(program, null, { session: "bench", limits: LIMITS }));
  }

  private constructor(run: (program: ReturnType<typeof defineAgent>) => Promise<RunResult>) {
    let next = this.next();
    const program = defineAgent("steps", async (ctx) => {
      for (let count = await next; count > 0; count = await next) {
        for (let step = 0; step < count; step++) await ctx.model({ prompt: "go on" });
        next = this.next();
        this.done();
      }
    });
    this.ended = run(program);
  }

  /** Makes so many calls, one after the other. */
  async run(count: number): Promise<void> {
    const done = new Promise<void>((resolve) => {
      this.done = resolve;
    });
    this.tell(count);
    await Promise.race([done, this.ended.then(({ status }) => Promise.reject(new Error(`the run is ${status}`)))]);
  }

  /** Lets the program come to its end, and sees that it is a good one. */
  async end(): Promise<void> {
    this.tell(0);
    const result = await this.ended;
    if (result.status !== "completed") throw new Error(`the run is ${JSON.stringify(result)}`);
  }

  private next(): Promise<number> {
    return new Promise((resolve) => {
      this.tell = resolve;
    });
  }
}
