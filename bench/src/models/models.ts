import { type BudgetLimits, type Operation, openBudget } from "bursar";
import { governedFetch } from "bursar/fetch";
import { type Measured, measureAsync } from "../measure.js";
import type { Bench, Report } from "../report.js";
import { NASTY_BODIES } from "./nasty-bodies.js";

const MAX_OVERHEAD_US = 100;
const MAX_QUOTE_MS = 20;
const CALLS = 50;
const URL_OF_CHAT = "https://api.openai.com/v1/chat/completions";
const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
const ANSWER = JSON.stringify({
  id: "x",
  object: "chat.completion",
  created: 0,
  model: "gpt-4o",
  usage: USAGE,
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
});
const REQUEST = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "gpt-4o", max_tokens: 100, messages: [{ role: "user", content: "Say hello." }] }),
};

export const models: Bench = {
  name: "models",
  about: "what the wire meter adds to a call that takes no time, and how long hostile prompts take to be quoted",
  async run(quick) {
    const calls = await measureCalls(quick ? 20 : 400);
    const quotes = await measureQuotes(quick ? 3 : 25);
    return report(calls, quotes);
  },
};

function report(calls: readonly Measured[], quotes: readonly Measured[]): Report {
  const [bare, governed, books] = calls.map(({ medianNs }) => medianNs / 1000);
  const overhead = (governed ?? Number.NaN) - (bare ?? Number.NaN);
  const own = overhead - (books ?? Number.NaN);
  const slowest = quotes.reduce((worst, each) => (each.medianNs > worst.medianNs ? each : worst));
  const slowestMs = slowest.medianNs / 1e6;
  return {
    tables: [
      { title: "a call answered at once, read to its end", rows: calls },
      { title: "1 MB of prompt, refused after its quote", rows: quotes },
    ],
    bars: [
      {
        name: "what governedFetch adds to a call, without the store",
        measured: `${own.toFixed(0)} us, at most ${MAX_OVERHEAD_US}; ${overhead.toFixed(0)} us with a store in memory`,
        met: own <= MAX_OVERHEAD_US,
      },
      {
        name: `the quote of 1 MB of the slowest prompt (${slowest.name})`,
        measured: `${slowestMs.toFixed(1)} ms, at most ${MAX_QUOTE_MS}`,
        met: slowestMs <= MAX_QUOTE_MS,
      },
    ],
  };
}

/** The same answer each time, made anew as a network would. */
const answering: typeof fetch = async () =>
  new Response(ANSWER, { status: 200, headers: { "content-type": "application/json" } });

async function measureCalls(rounds: number): Promise<readonly Measured[]> {
  const limits = { cost_usd: 1000, llm_tokens: 1e9, steps: 1e9 };
  const budget = await openBudget(limits);
  const keepBooks = await booksOf(limits);
  const governed = governedFetch({ budget, fetch: answering });
  const reading = (send: typeof fetch) => async (count: number) => {
    for (let call = 0; call < count; call++) await (await send(URL_OF_CHAT, REQUEST)).text();
  };
  return measureAsync(
    [
      { name: "bare", operations: CALLS, run: reading(answering) },
      { name: "through governedFetch", operations: CALLS, run: reading(governed) },
      { name: "what the store does for that: path, reserve, commit", operations: CALLS, run: keepBooks },
    ],
    rounds,
    () => {},
  );
}

/** The same operations on a store of the same kind, in the units of the ledger. */
async function booksOf(limits: BudgetLimits): Promise<(count: number) => Promise<void>> {
  const { store, budget } = (await openBudget(limits)).purse;
  const amounts = (values: Record<string, number>) => values as Extract<Operation, { op: "reserve" }>["asked"];
  const least = amounts({ llm_output_tokens: 1, cost_usd: 400_000 });
  const asked = amounts({ steps: 1, llm_input_tokens: 160, llm_output_tokens: 100, cost_usd: 1_400_000 });
  const used = amounts({ llm_input_tokens: 12, llm_output_tokens: 3, llm_tokens: 15, cost_usd: 60_000 });
  let calls = 0;
  return async (count) => {
    for (let left = count; left > 0; left--) {
      const call = `call-${calls++}`;
      const about = { budget, call, kind: "model", step_id: call, capability_id: "llm:gpt-4o" } as const;
      await store.path(budget);
      await store.apply([{ op: "reserve", ...about, asked, least, expires: Date.now() + 900_000 }]);
      await store.apply([{ op: "commit", call, used, duration_ms: 0 }]);
    }
  };
}

/** Budgets that take none of them, so that nothing but the quote is measured. */
async function measureQuotes(rounds: number): Promise<readonly Measured[]> {
  const governed = governedFetch({ budget: await openBudget({ llm_tokens: 1000 }, {}), fetch: answering });
  const bodies: Record<string, string> = {};
  let round = 0;
  const renew = () => {
    round++;
    for (const [name, body] of Object.entries(NASTY_BODIES))
      bodies[name] = typeof body === "string" ? body : body(round);
  };
  const variants = Object.keys(NASTY_BODIES).map((name) => ({
    name,
    operations: 1,
    run: async () => {
      const body = bodies[name] ?? "";
      const { status } = await governed(URL_OF_CHAT, { ...REQUEST, body });
      if (status !== 402 && status !== 400) throw new Error(`${name} was answered with ${status}`);
    },
  }));
  return measureAsync(variants, rounds, renew);
}
