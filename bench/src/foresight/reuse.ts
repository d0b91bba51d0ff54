import { openBudget } from "bursar";
import { type GovernedFetchOptions, governedFetch } from "bursar/fetch";
import { type Measured, measureAsync } from "../measure.js";
import type { Report } from "../report.js";

const WINDOW_MS = 5;
const AT_ONCE = 100;
const MS = 1e6;
const URL_OF_EMBEDDINGS = "https://api.openai.com/v1/embeddings";
const MODEL = "text-embedding-3-small";
const VECTOR = Array.from({ length: 256 }, (_, index) => index / 256);

/** Answers at once, so that nothing is seen but what is added. */
function provider(): { readonly send: typeof fetch; count: number } {
  const counted = {
    count: 0,
    send: (async (_, init) => {
      counted.count++;
      const { input } = JSON.parse(String(init?.body)) as { input: string | string[] };
      const data = [input].flat().map((_, index) => ({ object: "embedding", index, embedding: VECTOR }));
      const usage = { prompt_tokens: data.length * 4, total_tokens: data.length * 4 };
      return Response.json({ object: "list", data, model: MODEL, usage });
    }) as typeof fetch,
  };
  return counted;
}

/** What it takes to send embedding calls together, and what that spares. */
export async function reuse(quick: boolean): Promise<Report> {
  const rows = await latencies(quick ? 20 : 200);
  const [alone, windowed, hit] = rows;
  const added = ((windowed?.medianNs ?? Number.NaN) - (alone?.medianNs ?? 0)) / MS;
  const saved = await requests();
  return {
    tables: [{ title: "an embedding call that is answered at once", rows }],
    bars: [
      {
        name: `what a window of ${WINDOW_MS} ms adds to an embedding call`,
        measured: `${added.toFixed(2)} ms, at most ${WINDOW_MS}`,
        met: added <= WINDOW_MS,
      },
      {
        name: `requests for ${AT_ONCE} embedding calls made at once`,
        measured: `${saved}, in place of ${AT_ONCE}`,
        met: saved === 1,
      },
      {
        name: "an answer that was kept, against a call that is answered at once",
        measured: `${(hit?.ratio ?? Number.NaN).toFixed(2)} x, at most 2`,
        met: (hit?.ratio ?? Number.NaN) <= 2,
      },
    ],
  };
}

async function latencies(rounds: number): Promise<readonly Measured[]> {
  const variant = async (name: string, options: GovernedFetchOptions, vary: boolean) => {
    const send = await governed(provider().send, options);
    let asked = 0;
    const run = async (count: number) => {
      for (let call = 0; call < count; call++) await embed(send, vary ? `text ${asked++}` : "text");
    };
    return { name, operations: 5, run };
  };
  const variants = [
    await variant("by itself", {}, true),
    await variant(`with a window of ${WINDOW_MS} ms`, { reuse: { embeddings: { window_ms: WINDOW_MS } } }, true),
    await variant("kept from before", { reuse: { cache: true } }, false),
  ];
  return measureAsync(variants, rounds, () => {});
}

/** How many requests reach the provider when many calls are made at once. */
async function requests(): Promise<number> {
  const counted = provider();
  const send = await governed(counted.send, { reuse: { embeddings: { window_ms: 100 } } });
  await Promise.all(Array.from({ length: AT_ONCE }, (_, each) => embed(send, `text ${each}`)));
  return counted.count;
}

async function governed(send: typeof fetch, options: GovernedFetchOptions): Promise<typeof fetch> {
  const budget = await openBudget({ cost_usd: 1000, llm_tokens: 1e9, steps: 1e9 });
  return governedFetch({ budget, fetch: send, ...options });
}

async function embed(send: typeof fetch, input: string): Promise<void> {
  const body = JSON.stringify({ model: MODEL, input });
  const headers = { "content-type": "application/json", authorization: "Bearer none" };
  const answer = await send(URL_OF_EMBEDDINGS, { method: "POST", headers, body });
  if (answer.status !== 200) throw new Error(`${input} was answered with ${answer.status}`);
  await answer.text();
}
