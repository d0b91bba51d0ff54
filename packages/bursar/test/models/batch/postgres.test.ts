import { afterAll, expect, test } from "vitest";
import { startPostgres } from "../../../../../test/postgres/server.mjs";
import { verifyChain } from "../../../src/core/chain/verify.js";
import { type Batches, openBatches } from "../../../src/models/batch/batches.js";
import type { Store } from "../../../src/ports/store.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { Gate } from "../../../src/runtime/gate.js";
import { PostgresStore } from "../../../src/stores/postgres/postgres.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { BatchFault, BatchQuestion } from "../../../src/testing/scripted/batching.js";
import { openScriptedModel, type ScriptedModel } from "../../../src/testing/scripted-model.js";
import { COST_NANO, ECHO, MODEL, PRICES } from "./scene.js";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const CALLS = 30;
const MOST_ITEMS = 10;
const STEP_MS = 20_000;
let schemas = 0;

/** A process of its own: a store with connections of its own, and a desk. */
async function opened(clock: FakeClock, provider: "openai" | "anthropic", at: ScriptedModel) {
  const store = await PostgresStore.open({ url: server.url, schema: `batch_${schemas}`, clock, patience_ms: 60_000 });
  const deskOn = (seen: Store) =>
    openBatches({
      store: seen,
      timer: clock,
      provider,
      url: provider === "openai" ? at.url : at.origin,
      model: MODEL,
      prices: PRICES,
      price_factor: 0.5,
      window_ms: 1000,
      poll_ms: 1000,
      most_items: MOST_ITEMS,
    });
  return { store, deskOn, desk: deskOn(store), [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** As after `kill -9`: what was sent to the database is carried out, and nothing more is said. */
function dyingAfter(store: Store, writes: number): Store & { dead: boolean } {
  let left = writes;
  const dying = Object.assign(Object.create(store) as Store, { dead: false });
  dying.apply = async (operations) => {
    if (dying.dead) return new Promise(() => {});
    const outcomes = await store.apply(operations);
    if (--left > 0) return outcomes;
    dying.dead = true;
    return new Promise(() => {});
  };
  return dying;
}

async function hand(store: Store, desk: Batches): Promise<readonly string[]> {
  using gate = new Gate({ store });
  await gate.open("b", { limits: { cost_usd: 1, wall_clock_ms: null, llm_tokens: null, steps: null } });
  const purse = { gate, store, budget: "b", chain: "b" };
  const names = Array.from({ length: CALLS }, (_, at) => `call ${at}`);
  for (const name of names) await desk.hand(purse, { prompt: name, max_tokens: 50 }, { id: name });
  return names;
}

test.each(["openai", "anthropic"] as const)(
  "two pollers on one PostgreSQL, a third that dies in a round, and a server that crashes while a batch is handed in, at %s",
  async (provider) => {
    const clock = new FakeClock();
    let crash: Promise<void> | null = null;
    const fault = (question: BatchQuestion, number: number): BatchFault | null => {
      // The batch arrives, and there is no database to write that into.
      if (question === "create" && number === 2) crash = server.crash().then(() => server.start());
      return null;
    };
    await using at = await openScriptedModel({ script: ECHO, models: [MODEL], batches: { fault }, clock });
    schemas++;
    await using one = await opened(clock, provider, at);
    await using two = await opened(clock, provider, at);
    await using three = await opened(clock, provider, at);
    const names = await hand(one.store, one.desk);
    const dying = dyingAfter(three.store, 2);
    clock.advance(STEP_MS);
    // It takes the turn, writes down what it is about to send, and is gone.
    void three.deskOn(dying).round();
    while (!dying.dead) await new Promise((resolve) => setTimeout(resolve, 5));
    for (let round = 0; round < 60; round++) {
      clock.advance(STEP_MS);
      await Promise.allSettled([one.desk.round(), two.desk.round()]);
    }
    expect(crash).not.toBe(null);
    await crash;

    const answers = await Promise.all(names.map((name) => two.desk.answer(name)));
    expect(answers).toMatchObject(names.map((name) => ({ text: `You said: ${name}` })));
    // The script has seen every call once, so that none was sent twice.
    expect(at.count).toBe(CALLS);
    expect(at.batches.map(({ lines }) => lines.length)).toEqual([MOST_ITEMS, MOST_ITEMS, MOST_ITEMS]);
    const budget = await one.store.budget("b");
    expect(budget).toMatchObject({ used: { cost_usd: CALLS * COST_NANO, steps: CALLS } });
    expect(Object.values(budget?.reserved ?? {}).every((amount) => amount === 0)).toBe(true);
    const lines: string[] = [];
    for await (const line of two.store.chain("b")) lines.push(line);
    expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
    expect(lines.filter((line) => line.includes('"Saved"'))).toHaveLength(CALLS);
  },
);
