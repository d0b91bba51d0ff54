import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { chatModel } from "../../../src/models/chat/chat.js";
import { readAnswer } from "../../../src/models/chat/chat-answer.js";
import { reusedChat } from "../../../src/models/chat/reused-chat.js";
import type { ReuseOptions } from "../../../src/models/reuse/options.js";
import { openReuse } from "../../../src/models/reuse/reuse.js";
import { savedUsd } from "../../../src/models/reuse/saved.js";
import type { TiersOptions } from "../../../src/ports/tiers.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { openBursar } from "../../../src/runs/bursar.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScriptedModel, type Script } from "../../../src/testing/scripted-model.js";
import { ANN, listOf, pausedOf } from "../../runs/stage.js";

const PRICES = {
  small: { input_usd_per_mtok: 1, output_usd_per_mtok: 4 },
  large: { input_usd_per_mtok: 10, output_usd_per_mtok: 40 },
};
/** 0.0022 dollars at the price of `small`. */
const ANSWER = { kind: "text", text: "Yes.", usage: { prompt_tokens: 200, completion_tokens: 500 } } as const;
const COST_USD = 0.0022;

/** Asks the same, so often at once and so often after that; what is asked may differ by a word. */
const asker = defineAgent("asker", async (ctx, { at_once = 0, after = 0, word = "tea", more = {} }: Asking) => {
  const ask = () => ctx.model<{ text: string }>({ prompt: `What is ${word}?`, max_tokens: 1000, ...more });
  const answers = await Promise.all(Array.from({ length: at_once }, ask));
  for (let call = 0; call < after; call++) answers.push(await ask());
  return answers.map(({ text }) => text);
});

interface Asking {
  readonly at_once?: number;
  readonly after?: number;
  readonly word?: string;
  readonly more?: JsonObject;
}

async function stage(reuse: ReuseOptions, script: Script = () => ANSWER, tiers?: TiersOptions) {
  const provider = await openScriptedModel({ script, models: Object.keys(PRICES) });
  const store = new MemoryStore();
  const name = tiers === undefined ? "small" : "bursar/auto";
  const model = chatModel({ url: provider.url, model: name, prices: PRICES, reuse, ...(tiers && { tiers }) });
  const bursar = openBursar({ store, model, programs: [asker] });
  return {
    provider,
    store,
    bursar,
    [Symbol.asyncDispose]: async () => {
      await bursar[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

const LIMITS = { cost_usd: 1 };

test("identical calls of a run at the same time are one; each is a step, and one of them is paid for", async () => {
  await using at = await stage({ in_flight: true });
  const result = await at.bursar.run("asker", { at_once: 3 }, { id: "a", limits: LIMITS });
  expect(result).toMatchObject({ status: "completed", result: ["Yes.", "Yes.", "Yes."] });
  expect(at.provider.requests).toHaveLength(1);
  expect(result.usage).toMatchObject({ steps: 3, cost_usd: COST_USD, llm_tokens: 700 });
  expect(await savedUsd(at.store, "a")).toBe(2 * COST_USD);
  const kinds = (await listOf(at.store.chain("a"))).map((line) => JSON.parse(line));
  const told = kinds.filter(({ action_type }) => action_type === "Saved");
  expect(told.map(({ data }) => data)).toMatchObject(Array(2).fill({ budget: "a", kind: "in_flight", model: "small" }));
  const held = Object.values((await at.store.budget("a"))?.reserved ?? {});
  expect(held.every((amount) => amount === 0)).toBe(true);
});

test("what is kept is given again to the same run, and to others of its session, but to nobody else", async () => {
  await using at = await stage({ cache: true });
  await at.bursar.openSession("s", { cost_usd: 1 });
  const run = (id: string, more: object = {}) => at.bursar.run("asker", { after: 2 }, { id, limits: LIMITS, ...more });
  expect((await run("a", { session: "s" })).usage).toMatchObject({ steps: 2, cost_usd: COST_USD });
  expect((await run("b", { session: "s" })).usage).toMatchObject({ steps: 2 });
  expect((await at.store.budget("b"))?.used.cost_usd ?? 0).toBe(0);
  expect(at.provider.requests).toHaveLength(1);
  await run("alone");
  expect(at.provider.requests).toHaveLength(2);
  const other = await at.bursar.run("asker", { after: 1, word: "ink" }, { session: "s", limits: LIMITS });
  expect(other.usage).toMatchObject({ cost_usd: COST_USD });
  expect(await savedUsd(at.store, "a")).toBe(COST_USD);
  expect(await savedUsd(at.store, "b")).toBe(2 * COST_USD);
});

test("runs that share get what others have paid for", async () => {
  await using at = await stage({ cache: true, shared: true });
  for (const id of ["a", "b", "c"]) await at.bursar.run("asker", { after: 1 }, { id, limits: LIMITS });
  expect(at.provider.requests).toHaveLength(1);
});

test("when nothing comes of the call that others wait for, they make their own", async () => {
  let asked = 0;
  await using at = await stage({ in_flight: true }, () =>
    asked++ === 0 ? { kind: "status", status: 500, message: "no" } : ANSWER,
  );
  const patient = defineAgent("patient", async (ctx) => {
    const ask = () => ctx.model({ prompt: "tea?", max_tokens: 10 });
    return (await Promise.allSettled([ask(), ask(), ask()])).map(({ status }) => status);
  });
  const result = await at.bursar.run(patient, null, { limits: LIMITS });
  expect(result).toMatchObject({ result: ["rejected", "fulfilled", "fulfilled"] });
  expect(at.provider.requests).toHaveLength(2);
});

test("a run that is resumed is told the same, without asking and without saving twice", async () => {
  let asked = 0;
  await using at = await stage({ cache: true }, () => ({ ...ANSWER, text: `answer ${++asked}` }));
  const asks = { limits: { ...LIMITS, steps: 2 }, policies: { steps: "approval_required" } } as const;
  const paused = pausedOf(await at.bursar.run("asker", { after: 3 }, { id: "a", ...asks }));
  expect(await savedUsd(at.store, "a")).toBe(COST_USD);
  const done = await at.bursar.approve(paused.checkpoint_id, { by: ANN, extensions: { steps: 5 } });
  expect(done).toMatchObject({ status: "completed", result: ["answer 1", "answer 1", "answer 1"] });
  expect(done.usage).toMatchObject({ steps: 3, cost_usd: COST_USD });
  expect(at.provider.requests).toHaveLength(1);
  expect(await savedUsd(at.store, "a")).toBe(2 * COST_USD);
});

test("where the model is left open, the one that is chosen has to be the same", async () => {
  const list = {
    tiers: [
      { name: "large", model: "large" },
      { name: "small", model: "small" },
    ],
  };
  await using at = await stage({ cache: true }, () => ANSWER, { lists: { auto: list } });
  const small = { bursar: { tier: "small" } };
  await at.bursar.openSession("s", { cost_usd: 1 });
  const ask = (more: JsonObject) => at.bursar.run("asker", { after: 1, more }, { session: "s", limits: LIMITS });
  expect((await ask({})).usage.cost_usd).toBe(0.022);
  expect((await ask(small)).usage.cost_usd).toBe(COST_USD);
  expect((await ask({})).usage.cost_usd ?? 0).toBe(0);
  expect(at.provider.requests).toHaveLength(2);
});

test("nothing is reused unless it is said", async () => {
  await using at = await stage({});
  await at.bursar.run("asker", { at_once: 3, after: 1 }, { limits: LIMITS });
  expect(at.provider.requests).toHaveLength(4);
});

test.each([
  ["length", true, 2],
  ["length", false, 1],
  ["stop", true, 1],
] as const)(
  "an answer that ended with %s, held to less %s, is asked for %i times",
  async (finish_reason, isHeld, times) => {
    const reuse = openReuse({ cache: true });
    const text = JSON.stringify({
      choices: [{ message: { content: "Yes" }, finish_reason }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    });
    let asked = 0;
    const ask = async () => {
      asked++;
      const counts = { input: 1, output: 1 };
      return { answer: { value: readAnswer(text, null), usage: { cost_usd: 0.1 } }, counts, text };
    };
    const question = { url: "http://a", headers: {}, body: "{}", tenant: async () => "t" };
    const { signal } = new AbortController();
    for (let turn = 0; turn < 2; turn++) await reusedChat(reuse, { question, secret: null, isHeld }, signal, ask);
    expect(asked).toBe(times);
  },
);
