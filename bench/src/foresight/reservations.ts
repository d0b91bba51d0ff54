import { MemoryStore, openBudget } from "bursar";
import { governedFetch } from "bursar/fetch";
import type { Bar, Report } from "../report.js";
import { randomFrom, skewed } from "./chance.js";
import { percent } from "./percent.js";
import { SimulatedProvider } from "./simulated-provider.js";

const URL_OF_CHAT = "https://api.openai.com/v1/chat/completions";
const BODY = JSON.stringify({ model: "gpt-4o", max_tokens: 4096, messages: [{ role: "user", content: "Well?" }] });
const REQUEST = { method: "POST", headers: { "content-type": "application/json" }, body: BODY };
/** Half of the answers are longer; one of a hundred is three times as long. */
const MEDIAN = 300;
const SPREAD = 0.5;

/** How calls come, and what they may use together. */
interface Workload {
  readonly name: string;
  /** How many budgets there are, one after the other. */
  readonly budgets: number;
  readonly output_tokens: number;
  /** How many calls are made in each, by how many at once. */
  readonly calls: number;
  readonly callers: number;
}

interface Outcome {
  readonly mean: number;
  readonly most: number;
  /** Calls per second of the provider's time. */
  readonly throughput: number;
  readonly served: number;
  readonly cut: number;
  /** By how much a limit was passed, in tokens. */
  readonly passed: number;
}

const WORKLOADS: readonly Workload[] = [
  { name: "40 calls at once in 20,000 tokens", budgets: 30, output_tokens: 20_000, calls: 40, callers: 40 },
  { name: "1,000 calls, 200 at once, in 400,000", budgets: 1, output_tokens: 400_000, calls: 1000, callers: 200 },
  { name: "40 calls one by one in 20,000", budgets: 30, output_tokens: 20_000, calls: 40, callers: 1 },
];

/** What learned reservations change: calls with a limit of 4,096 tokens whose answers have 300, in the provider's own time. */
export async function reservations(quick: boolean): Promise<Report> {
  const bars: Bar[] = [];
  for (const workload of WORKLOADS) {
    const size = quick ? { ...workload, budgets: Math.min(workload.budgets, 4) } : workload;
    const full = await simulate(size, "full");
    const learned = await simulate(size, "learned");
    bars.push(...barsOf(workload, full, learned));
  }
  return { tables: [], bars };
}

function barsOf({ name, callers }: Workload, full: Outcome, learned: Outcome): readonly Bar[] {
  const show = ({ mean, most, throughput, served, cut }: Outcome) =>
    `${mean.toFixed(1)} at once (most ${most}), ${throughput.toFixed(1)} calls/s, ${percent(served)} served, ${percent(cut)} cut`;
  const faster = callers === 1 || learned.throughput > full.throughput;
  return [
    { name: `${name}, full`, measured: show(full), met: full.passed <= 0 },
    { name: `${name}, learned`, measured: show(learned), met: learned.passed <= 0 && faster },
  ];
}

/** What was learned in one budget is known in the next, as in a server that serves one request after the other. */
async function simulate(workload: Workload, reservations: "full" | "learned"): Promise<Outcome> {
  const { budgets, output_tokens, calls, callers } = workload;
  const random = randomFrom(7);
  const provider = new SimulatedProvider(() => Math.min(4096, Math.round(skewed(random, MEDIAN, SPREAD))));
  const governed = governedFetch({ fetch: provider.fetch, reservations, wait_ms: 3_600_000 });
  const store = new MemoryStore();
  let served = 0;
  let passed = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < budgets; at++) {
    const budget = await openBudget(
      { llm_output_tokens: output_tokens },
      { store, name: `budget-${at}`, parent: null },
    );
    let left = calls;
    const caller = async () => {
      for (; left > 0; ) {
        left--;
        const response = await budget.run(() => governed(URL_OF_CHAT, REQUEST));
        if (response.ok) served++;
        await response.text();
      }
    };
    await provider.until(Promise.all(Array.from({ length: callers }, caller)));
    const { used } = await budget.state();
    passed = Math.max(passed, (used.llm_output_tokens ?? 0) - output_tokens);
    await budget[Symbol.asyncDispose]();
  }
  const { meanInFlight: mean, mostInFlight: most, now, cut, answered } = provider;
  return {
    mean,
    most,
    passed,
    served: served / (budgets * calls),
    cut: cut / answered,
    throughput: answered / (now / 1000),
  };
}
