import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "bursar";
import { Agent, fetch as request } from "undici";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import type { Store } from "../../../src/ports/store.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { ANSWER, PRICES, switchesIn, tiersOf } from "./scene.js";

const CALLERS = 1000;
const LIMIT = 8;

interface Answer {
  readonly model: keyof typeof PRICES;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** In billionths of a dollar. */
function costOf({ model, usage }: Answer): number {
  const { input_usd_per_mtok: input, output_usd_per_mtok: output } = PRICES[model];
  return 1000 * (usage.prompt_tokens * input + usage.completion_tokens * output);
}

interface Kept extends AsyncDisposable {
  readonly store: Store;
}

async function inMemory(): Promise<Kept> {
  const store = new MemoryStore();
  return { store, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function inSqlite(): Promise<Kept> {
  const folder = await mkdtemp(join(tmpdir(), "bursar-tiers-"));
  const store = await openStore(`sqlite:${join(folder, "crowd.db")}`);
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe.each([
  ["in memory", inMemory],
  ["in SQLite", inSqlite],
])("a thousand callers at once, %s", (_, open) => {
  test("never pass the limit they share, and leave nothing held", async () => {
    await using kept = await open();
    await using provider = await openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
    await using budget = await openBudget({ cost_usd: LIMIT }, { store: kept.store, name: "crowd" });
    // All are let in at once; a thousand connections at once would only test the machine.
    const agent = new Agent({ connections: 64 });
    const send = ((input: string | URL, init: object) =>
      request(input, { ...init, dispatcher: agent })) as typeof fetch;
    const governed = governedFetch({ prices: PRICES, tiers: tiersOf(), budget, wait_ms: 120_000, fetch: send });
    const body = JSON.stringify({ model: "bursar/auto", messages: [{ role: "user", content: "?" }], max_tokens: 1000 });
    const headers = { "content-type": "application/json" };
    const ask = async () => {
      const response = await governed(`${provider.url}/chat/completions`, { method: "POST", headers, body });
      const answer = (await response.json()) as Answer;
      return { status: response.status, cost: response.status === 200 ? costOf(answer) : 0 };
    };

    const answers = await Promise.all(Array.from({ length: CALLERS }, ask));

    const node = await kept.store.budget("crowd");
    const used = node?.used.cost_usd ?? 0;
    expect(used).toBeLessThanOrEqual(LIMIT * 1e9);
    expect(Object.values(node?.reserved ?? {}).every((amount) => amount === 0)).toBe(true);
    // At the best tier 124 of them would have been served.
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThan(500);
    expect(answers.every(({ status }) => status === 200 || status === 402)).toBe(true);
    // What was charged is what the answers cost at the models that gave them.
    expect(used).toBe(answers.reduce((sum, { cost }) => sum + cost, 0));
    await agent.close();
    expect((await switchesIn(kept.store, budget.purse.chain)).length).toBeLessThan(40);
  }, 120_000);
});
