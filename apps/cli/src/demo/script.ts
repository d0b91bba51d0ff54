import type { BudgetLimits } from "bursar";

/** What the demo plays. All of it is made up but the rules it plays by, which are the library's. */

export const QUESTION = "research a question";

export const TENANT = "tenant:acme";
export const SESSION = "session:monday";
export const RUN = "run:research";
export const SHARING_CHILD = "child:search";
export const CHILD = "child:read-sources";

/** Money is limited where it is shared: in the session. The run limits what is its own. */
export const LIMITS: Readonly<Record<typeof TENANT | typeof SESSION | typeof RUN, BudgetLimits>> = {
  [TENANT]: { cost_usd: 5 },
  [SESSION]: { cost_usd: 0.4 },
  [RUN]: { steps: 20, llm_tokens: 25_000, wall_clock_ms: 30_000 },
};

/** What the simulated models cost, in billionths of a dollar for each token, so that no product is rounded. */
export const PRICES_NANO_USD: Readonly<Record<string, number>> = { "sim-large": 40_000, "sim-small": 4_000 };

/** A call that is never made: it sleeps, and then says what it has used. */
export interface SimulatedCall {
  readonly step_id: string;
  readonly capability_id: string;
  readonly asks: Load;
  readonly uses: Load;
  readonly takes_ms: number;
}

/** Tokens of a model, which cost what the model costs, or the price of a tool. */
export type Load = { readonly tokens: number } | { readonly nano_usd: number };

export const PLAN = model("plan", "sim-large", 2500, 1800, 900);

export const SEARCH: SimulatedCall = {
  step_id: "search",
  capability_id: "web-search",
  asks: { nano_usd: 10_000_000 },
  uses: { nano_usd: 8_000_000 },
  takes_ms: 400,
};

/** More than the session has left. */
export const DEEP_READ = model("deep read", "sim-large", 9000, 8200, 3000);

export const SKIM = model("skim", "sim-small", 6500, 5500, 500);

export const READS: readonly SimulatedCall[] = [
  model("read page 1", "sim-small", 3000, 2000, 700),
  model("read page 2", "sim-small", 3000, 2000, 1000),
];

/** Together they ask for more than is left: three fit at once, the fourth when two have settled, the fifth never. */
export const RACE: readonly SimulatedCall[] = [700, 1000, 1400, 800, 800].map((takes_ms, index) =>
  model(`compare ${index + 1}`, "sim-large", 2000, 1450, takes_ms),
);

/** More tokens than the run has left, for less money than the session has left. */
export const ANSWER = model("write answer", "sim-small", 9000, 7600, 1000);

export const PROMISES = [
  "Reserve first: a call that does not fit is never made",
  "A child shares, or gets a slice and returns what it does not use",
  "In parallel, nobody passes on the same last dollar",
  "Exhausted? A person decides, and the run goes on where it was",
  "Every decision is in a chain that anyone can verify",
] as const;

function model(step_id: string, capability_id: string, asks: number, uses: number, takes_ms: number): SimulatedCall {
  return { step_id, capability_id, asks: { tokens: asks }, uses: { tokens: uses }, takes_ms };
}
