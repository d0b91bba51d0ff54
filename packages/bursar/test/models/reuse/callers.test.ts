import { expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { savedUsd } from "../../../src/models/reuse/saved.js";

/** A dime for each of them: a fixed number of tokens at a price that makes it one. */
const TOKENS = 100;
const PRICES = { dime: { input_usd_per_mtok: 0, output_usd_per_mtok: 1000 } };
const URL = "http://provider.test/v1/chat/completions";

/** A provider that is reached without a network, so that a thousand calls are a thousand and not as many sockets. */
function provider() {
  let count = 0;
  const send: typeof fetch = async (_, init) => {
    const { max_tokens = 0 } = JSON.parse(String(init?.body)) as { max_tokens?: number };
    count++;
    await new Promise((resolve) => setImmediate(resolve));
    const usage = { prompt_tokens: 10, completion_tokens: max_tokens, total_tokens: 10 + max_tokens };
    const choices = [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }];
    return Response.json({ id: `chat-${count}`, object: "chat.completion", choices, usage });
  };
  return { send, count: () => count };
}

const ask = (text: string) =>
  JSON.stringify({ model: "dime", messages: [{ role: "user", content: text }], max_tokens: TOKENS });

test.each([true, false])(
  "1,000 callers on five dollars at a dime each: exactly 50 pass, with all of it on",
  async (learned) => {
    const { send, count } = provider();
    const reuse = { in_flight: true, embeddings: true, cache: true };
    const reservations = learned ? "learned" : "full";
    await using budget = await openBudget({ cost_usd: 5 });
    const governed = governedFetch({ fetch: send, prices: PRICES, reuse, reservations, budget });
    const statuses = await Promise.all(
      Array.from(
        { length: 1000 },
        async (_, each) => (await governed(URL, { method: "POST", body: ask(`${each}`) })).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 402)).toHaveLength(950);
    expect(count()).toBe(50);
    const { used, held } = await budget.state();
    expect(used.cost_usd).toBe(5);
    expect(held).toEqual({});
  },
);

test("1,000 callers who all ask the same: one pays, and the others are counted", async () => {
  const { send, count } = provider();
  await using budget = await openBudget({ cost_usd: 5, steps: 1000 });
  const governed = governedFetch({ fetch: send, prices: PRICES, reuse: { in_flight: true }, budget });
  const bodies = await Promise.all(
    Array.from({ length: 1000 }, async () => (await governed(URL, { method: "POST", body: ask("same") })).text()),
  );
  expect(new Set(bodies).size).toBe(1);
  expect(count()).toBe(1);
  const { used, held } = await budget.state();
  expect(used).toMatchObject({ steps: 1000, cost_usd: 0.1 });
  expect(held).toEqual({});
  expect(await savedUsd(budget.purse.store, budget.id)).toBe(99.9);
});

test("1,000 callers who ask for fifty things: each is paid for once", async () => {
  const { send, count } = provider();
  await using budget = await openBudget({ cost_usd: 5 });
  const reuse = { in_flight: true, cache: true };
  const governed = governedFetch({ fetch: send, prices: PRICES, reuse, budget });
  const statuses = await Promise.all(
    Array.from({ length: 1000 }, async (_, each) => {
      const { status } = await governed(URL, { method: "POST", body: ask(`${each % 50}`) });
      return status;
    }),
  );
  const { used, held } = await budget.state();
  expect(count()).toBe(50);
  expect(used.cost_usd).toBe(5);
  expect(held).toEqual({});
  // Once the last dollar is spent nothing more is admitted, not even what costs nothing; until then nobody is refused.
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(50);
  expect(used.steps).toBe(statuses.filter((status) => status === 200).length);
});
