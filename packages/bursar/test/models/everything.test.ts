import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import type { Store } from "../../src/ports/store.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { MemoryStore } from "../../src/stores/memory.js";
import type { ScriptedRequest } from "../../src/testing/scripted/request.js";
import { chance } from "../foresight/chance.js";
import { opened } from "../gateway/opened.js";
import { temporaryFolder } from "../stores/folder.js";
import { savedIn } from "./reuse/chains.js";
import { switchesIn } from "./tiers/scene.js";

/*
 * Everything that looks ahead and saves, at once: tiers, learned reservations, calls that become one, kept answers, embeddings that
 * go together. A thousand callers over HTTP, and what the provider has sold is what the budget has paid, to the last billionth.
 */

const CALLERS = 1000;
const AT_ONCE = 150;
/** In billionths of a dollar for a token: input, output. */
const NANO: Readonly<Record<string, readonly [number, number]>> = {
  "gpt-5": [4000, 16_000],
  "gpt-4o": [1000, 4000],
  "claude-sonnet-4-5": [250, 1000],
  "text-embedding-3-small": [20, 0],
};
const PRICES = Object.fromEntries(
  Object.entries(NANO).map(([model, [input, output]]) => [
    model,
    { input_usd_per_mtok: input / 1000, output_usd_per_mtok: output / 1000 },
  ]),
);
const TIERS = {
  lists: {
    auto: {
      tiers: [
        { name: "large", model: "gpt-5" },
        { name: "medium", model: "gpt-4o" },
        { name: "small", model: "claude-sonnet-4-5" },
      ],
    },
  },
};
const REUSE = { in_flight: true, embeddings: { window_ms: 10 }, cache: true };

/** A provider that keeps its own books. */
class Seller {
  nano = 0;
  tokens = 0;
  private readonly next = chance(7);

  async answer({ protocol, model, text, max_tokens, body }: ScriptedRequest) {
    await new Promise((resolve) => setTimeout(resolve, 20 * this.next()));
    if (text.startsWith("wrong")) return { kind: "status", status: 400, message: "no" } as const;
    const isChat = protocol !== "openai-embeddings";
    const prompt_tokens = isChat ? 10 : 3 * [body.input].flat().length;
    const completion_tokens = isChat ? Math.min(max_tokens ?? 4096, 200 + Math.floor(200 * this.next())) : 0;
    const [input = 0, output = 0] = NANO[model] ?? [];
    this.nano += input * prompt_tokens + output * completion_tokens;
    this.tokens += prompt_tokens + completion_tokens;
    return { kind: "text", text: "Yes.", usage: { prompt_tokens, completion_tokens } } as const;
  }
}

/** What caller number so and so wants: most of it is new, some was asked before, some is wrong, some is streamed. */
function wish(number: number): readonly [path: string, body: object] {
  const chat = (model: string, content: string, more: object = {}) =>
    ["/v1/chat/completions", { model, messages: [{ role: "user", content }], max_tokens: 4096, ...more }] as const;
  switch (number % 10) {
    case 0:
    case 1:
      return ["/v1/embeddings", { model: "text-embedding-3-small", input: `text ${number}` }];
    case 2:
    case 3:
      return chat("gpt-4o", `question ${number % 40}`);
    case 4:
      return chat("gpt-4o", `wrong ${number}`);
    case 5:
      return chat("bursar/auto", `story ${number}`, { stream: true, stream_options: { include_usage: true } });
    default:
      return chat("bursar/auto", `question ${number}`);
  }
}

/** A store that ends with the test, and a folder for one that has a file. */
async function storeIn(folder: string, kind: "memory" | "SQLite"): Promise<Store & Partial<AsyncDisposable>> {
  return kind === "memory" ? new MemoryStore() : SqliteStore.open({ path: join(folder, "bursar.db") });
}

test.each(["memory", "SQLite"] as const)("a thousand callers with everything on, in %s", async (kind) => {
  await using folder = await temporaryFolder();
  const store = await storeIn(folder.path, kind);
  const seller = new Seller();
  const script = (request: ScriptedRequest) => seller.answer(request);
  const limits = { cost_usd: 0.6, llm_tokens: 200_000, steps: null, wall_clock_ms: null };
  const options = { store, prices: PRICES, tiers: TIERS, reuse: REUSE, wait_ms: 600_000 };
  await using at = await opened(script, limits, options);
  // While there is plenty, nobody has to wait for his budget, and those who ask the same do so at the same time.
  await Promise.all(Array.from({ length: 10 }, async () => (await at.post(...wish(2))).text()));
  const statuses: Record<number, number> = {};
  let left = CALLERS;
  let highest = 0;
  const caller = async () => {
    while (left > 0) {
      const [path, body] = wish(left--);
      const response = await at.post(path, body);
      await response.text();
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      const budget = await store.budget("team");
      highest = Math.max(highest, (budget?.used.cost_usd ?? 0) + (budget?.reserved.cost_usd ?? 0));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));

  const used = await at.used();
  expect(await at.held()).toEqual({});
  // Never over, at no moment, with what was held counted.
  expect(highest).toBeLessThanOrEqual(0.6e9);
  expect(used.llm_tokens).toBeLessThanOrEqual(200_000);
  // Nothing was charged twice, and nothing was had for nothing.
  expect(Math.round(Number(used.cost_usd) * 1e9)).toBe(seller.nano);
  expect(used.llm_tokens).toBe(seller.tokens);
  // Whoever was not served was refused by the budget, and the wrong ones by the provider or the budget.
  expect(Object.keys(statuses).filter((status) => !["200", "400", "402"].includes(status))).toEqual([]);
  expect(statuses[200]).toBeGreaterThan(CALLERS / 3);
  // All of it has been at work.
  const saved = await savedIn(store, "team");
  expect(new Set(saved.map(({ kind }) => kind))).toEqual(new Set(["cache", "embeddings", "in_flight"]));
  expect(new Set(saved.map(({ call_id }) => call_id)).size).toBe(saved.length);
  expect(new Set((await switchesIn(store, "team")).map(({ to }) => to.tier)).size).toBeGreaterThan(1);
  const lines: string[] = [];
  for await (const line of store.chain("team")) lines.push(line);
  expect(lines.some((line) => line.includes('"full"'))).toBe(true);
  expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
  await store[Symbol.asyncDispose]?.();
});
