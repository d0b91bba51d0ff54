import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import type { Store } from "../../src/ports/store.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { MemoryStore } from "../../src/stores/memory.js";
import type { ScriptedRequest } from "../../src/testing/scripted/request.js";
import { opened } from "../gateway/opened.js";
import { temporaryFolder } from "../stores/folder.js";
import { PRICES, REUSE, Seller, TIERS, wish } from "./everything.js";
import { savedIn } from "./reuse/chains.js";
import { switchesIn } from "./tiers/scene.js";

/*
 * Everything that looks ahead and saves, at once: tiers, learned reservations, calls that become one, kept answers, embeddings that
 * go together. A thousand callers over HTTP, and what the provider has sold is what the budget has paid, to the last billionth.
 */

const CALLERS = 1000;
const AT_ONCE = 150;
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
  // All of it has been at work, but for learned reservations perhaps: those depend on who meets whom.
  const saved = await savedIn(store, "team");
  expect(new Set(saved.map(({ kind }) => kind))).toEqual(new Set(["cache", "embeddings", "in_flight"]));
  expect(new Set(saved.map(({ call_id }) => call_id)).size).toBe(saved.length);
  expect(new Set((await switchesIn(store, "team")).map(({ to }) => to.tier)).size).toBeGreaterThan(1);
  const lines: string[] = [];
  for await (const line of store.chain("team")) lines.push(line);
  expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
  await store[Symbol.asyncDispose]?.();
});
