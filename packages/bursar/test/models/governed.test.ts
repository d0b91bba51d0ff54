import fc from "fast-check";
import { expect, test } from "vitest";
import { chatModel } from "../../src/models/chat/chat.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel, type Script } from "../../src/testing/scripted-model.js";

const PRICES = { scripted: { input_usd_per_mtok: 1000, output_usd_per_mtok: 1000 } };

const asker = defineAgent("asker", async (ctx, { prompts }: { prompts: string[] }) => {
  const heard: string[] = [];
  for (const prompt of prompts) {
    const { text } = await ctx
      .model<{ text: string }>({ prompt, max_tokens: 10 })
      .catch((error: Error & { code: string }) => ({ text: error.code }));
    heard.push(text);
  }
  return heard;
});

async function run(script: Script, prompts: readonly string[], limits: Record<string, number> = {}) {
  await using server = await openScriptedModel({ script });
  const model = chatModel({ url: server.url, model: "scripted", prices: PRICES });
  const store = new MemoryStore();
  const bursar = openBursar({ store, model, programs: [asker] });
  const result = await bursar.run("asker", { prompts }, { limits });
  return { result, count: server.count };
}

test("a run is charged what the provider reports, at the stated price", async () => {
  const usage = { prompt_tokens: 30, completion_tokens: 5 };
  const { result } = await run([{ kind: "text", text: "Yes.", usage }], ["a"]);
  expect(result).toMatchObject({
    status: "completed",
    result: ["Yes."],
    usage: { llm_tokens: 35, llm_input_tokens: 30, llm_output_tokens: 5, cost_usd: 0.035 },
  });
});

test("a run is charged what was reserved when the provider says nothing, and when it fails", async () => {
  const quote = chatModel({ url: "http://127.0.0.1/", model: "scripted", prices: PRICES }).quote({
    prompt: "a",
    max_tokens: 10,
  }) as Record<string, number>;
  for (const script of [[{ kind: "text", text: "Yes.", usage: null }], [{ kind: "status", status: 500 }]] as const) {
    const { result } = await run(script, ["a"]);
    expect(result.usage).toMatchObject(quote);
  }
});

test("a run is charged nothing but a step for what the provider refuses", async () => {
  const { result } = await run([{ kind: "status", status: 429 }], ["a"]);
  expect(result).toMatchObject({ result: ["provider_refused"], usage: { llm_tokens: 0, cost_usd: 0, steps: 1 } });
});

test("a request that does not fit never reaches the provider", async () => {
  const { result, count } = await run(() => "Yes.", ["a"], { cost_usd: 0.01 });
  expect(result).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "cost_usd" } });
  expect(count).toBe(0);
});

test("no request takes in or gives back more than was quoted", async () => {
  await using server = await openScriptedModel({ script: ({ text }) => text.repeat(3) });
  const model = chatModel({ url: server.url, model: "scripted", prices: PRICES });
  const requests = fc.record({ prompt: fc.string({ unit: "binary" }), max_tokens: fc.integer({ min: 1, max: 50 }) });
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const quote: Record<string, number> = { ...(await model.quote(request)) };
      const { usage } = await model.call(request, { signal: new AbortController().signal, key: "k" });
      const used = usage as Record<string, number>;
      for (const id of Object.keys(quote)) expect(used[id]).toBeLessThanOrEqual(quote[id] ?? 0);
    }),
    { numRuns: 200 },
  );
});
