import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SqliteStore } from "bursar/sqlite";
import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { Sweeper } from "../../src/runtime/sweeper.js";
import type { ScriptedRequest } from "../../src/testing/scripted/request.js";
import { openScriptedModel } from "../../src/testing/scripted-model.js";
import { temporaryFolder } from "../stores/folder.js";
import { patience, randomOf, rounds, SEED, withSeed } from "../stores/seeds.js";
import { PRICES, REUSE, Seller, TIERS, wish } from "./everything.js";

const GATEWAY = fileURLToPath(new URL("./children/gateway.mjs", import.meta.url));
const AT_ONCE = 30;
const KILLS = 3;
const LIMITS = { cost_usd: 0.6, llm_tokens: 200_000, steps: null, wall_clock_ms: null };

/** A gateway that is killed with -9 after so many answers, with many callers in the middle of something. */
async function untilKilled(path: string, upstream: string, answers: number, first: number): Promise<void> {
  const settings = JSON.stringify({ limits: LIMITS, prices: PRICES, tiers: TIERS, reuse: REUSE, wait_ms: 1000 });
  const child: ChildProcess = fork(GATEWAY, [path, upstream, settings]);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const { url, secret } = await new Promise<{ url: string; secret: string }>((resolve) =>
    child.once("message", (said) => resolve(said as { url: string; secret: string })),
  );
  let left = answers;
  let next = first;
  const headers = { "content-type": "application/json", authorization: `Bearer ${secret}` };
  const caller = async () => {
    while (left > 0) {
      const [where, body] = wish(next++);
      const response = await fetch(`${url}${where}`, { method: "POST", headers, body: JSON.stringify(body) });
      await response.text();
      if (--left === 0) child.kill("SIGKILL");
    }
  };
  // Whoever waits for an answer when it dies gets none.
  await Promise.allSettled(Array.from({ length: AT_ONCE }, caller));
  child.kill("SIGKILL");
  await gone;
}

/** The budget and its chain when everything that the killed gateways held is settled. */
async function booksAfter(path: string) {
  await using store = await SqliteStore.open({ path });
  await new Sweeper({ store }).sweep();
  const lines: string[] = [];
  for await (const line of store.chain("team")) lines.push(line);
  return { budget: await store.budget("team"), lines };
}

test(
  "gateways with everything on that are killed pass no limit, charge nothing twice and leave nothing held",
  async () => {
    for (let seed = SEED; seed < SEED + rounds(5); seed++) {
      await withSeed(seed, async () => {
        await using folder = await temporaryFolder();
        const random = randomOf(seed);
        const seller = new Seller();
        const script = (request: ScriptedRequest) => seller.answer(request);
        await using model = await openScriptedModel({ script, models: Object.keys(PRICES) });
        const path = join(folder.path, "bursar.db");
        for (let kill = 0; kill < KILLS; kill++) {
          await untilKilled(`sqlite:${path}`, model.url, 5 + Math.floor(60 * random()), kill * 1000);
        }

        const { budget, lines } = await booksAfter(path);
        const { cost_usd = 0, llm_tokens = 0 } = budget?.used ?? {};
        // What the provider has sold is paid for, also where nobody was left to hear what it cost.
        expect([cost_usd >= seller.nano, llm_tokens >= seller.tokens]).toEqual([true, true]);
        expect([cost_usd <= 0.6e9, llm_tokens <= 200_000]).toEqual([true, true]);
        expect(Object.values(budget?.reserved ?? {}).filter((amount) => amount !== 0)).toEqual([]);
        expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
        const settled = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "Consumption");
        expect(new Set(settled.map(({ data }) => data.call_id)).size).toBe(settled.length);
      });
    }
  },
  patience(),
);
