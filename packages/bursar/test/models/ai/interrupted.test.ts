import { APICallError, generateText, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import type { Operation } from "../../../src/core/operation.js";
import { govern } from "../../../src/models/ai/govern.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import type { Outcomes } from "../../../src/ports/store.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { until } from "../../testing/scripted/asking.js";
import { GPT, modelOn, openScene, PRICES, settled, usedIn, WIRES } from "./scene.js";

const TEXT = "word ".repeat(200);
/** The most that a broken stream may hide behind what was seen of it. */
const SLACK = 256;

/** A model whose caller hangs up in the moment in which the usage of an answer is looked at. */
function leavingAtUsage(model: ReturnType<typeof modelOn>, stop: AbortController): ReturnType<typeof modelOn> {
  type Part = Awaited<ReturnType<typeof model.doStream>>["stream"] extends ReadableStream<infer Each> ? Each : never;
  const leave = new TransformStream<Part, Part>({
    transform: (part, controller) => {
      if (part.type !== "finish") return controller.enqueue(part);
      const { usage } = part;
      const look = () => {
        stop.abort();
        return usage;
      };
      controller.enqueue(Object.defineProperty({ ...part }, "usage", { get: look, enumerable: true }));
    },
  });
  const doStream: typeof model.doStream = async (options) => {
    const answer = await model.doStream(options);
    return { ...answer, stream: answer.stream.pipeThrough(leave) };
  };
  return new Proxy(model, {
    get: (target, name) => (name === "doStream" ? doStream : Reflect.get(target, name, target)),
  });
}

describe.for(WIRES)("what breaks off, %s", (wire) => {
  test("a stream whose reader leaves is charged for what was seen, and the provider is hung up on", async () => {
    await using at = await openScene([{ kind: "half", text: TEXT, events: 8, ending: "hang" }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Bolts?" }] }];
    const { stream } = await at.budget.run(() => model.doStream({ prompt, maxOutputTokens: 5000 }));
    const reader = stream.getReader();
    let seen = 0;
    while (seen === 0) {
      const { value } = await reader.read();
      if (value?.type === "text-delta") seen += value.delta.length;
    }
    await reader.cancel();
    await until(() => at.server.aborted === 1);
    await settled(at.budget);
    expect(await usedIn(at.budget)).toMatchObject({ steps: 1, llm_output_tokens: seen + SLACK });
  });

  test("a stream that is aborted is charged for what was seen", async () => {
    await using at = await openScene([{ kind: "half", text: TEXT, events: 8, ending: "hang" }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const stop = new AbortController();
    const options = { prompt: "Bolts?", maxOutputTokens: 5000, abortSignal: stop.signal };
    const { fullStream } = at.budget.run(() => streamText({ model, ...options }));
    const types: string[] = [];
    for await (const { type } of fullStream) {
      types.push(type);
      if (type === "text-delta") stop.abort();
    }
    expect(types).toContain("abort");
    await until(() => at.server.aborted === 1);
    await settled(at.budget);
    const { llm_output_tokens = 0 } = await usedIn(at.budget);
    expect(llm_output_tokens).toBeGreaterThan(SLACK);
    expect(llm_output_tokens).toBeLessThan(TEXT.length + SLACK);
  });

  test("a stream that is aborted at its very end is charged what was reported", async () => {
    const usage = { prompt_tokens: 30, completion_tokens: 7 };
    await using at = await openScene([{ kind: "text", text: TEXT, usage }], { cost_usd: 1 });
    const stop = new AbortController();
    const model = govern(leavingAtUsage(modelOn(wire, at.server), stop), { prices: PRICES });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Bolts?" }] }];
    const options = { prompt, maxOutputTokens: 5000, abortSignal: stop.signal };
    const { stream } = await at.budget.run(() => model.doStream(options));
    const reading = (async () => {
      for await (const _ of stream);
    })();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    await settled(at.budget);
    expect(await usedIn(at.budget)).toMatchObject({ steps: 1, llm_input_tokens: 30, llm_output_tokens: 7 });
  });

  test("a stream that breaks is charged for what was seen, and whoever reads it is told", async () => {
    await using at = await openScene([{ kind: "half", text: TEXT, events: 8, ending: "cut" }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const { fullStream } = at.budget.run(() => streamText({ model, prompt: "Bolts?", maxOutputTokens: 5000 }));
    let text = "";
    const reading = (async () => {
      for await (const part of fullStream) if (part.type === "text-delta") text += part.text;
    })();
    await expect(reading).rejects.toBeInstanceOf(APICallError);
    expect(text.length).toBeGreaterThan(0);
    await settled(at.budget);
    const { used } = await at.budget.state();
    expect(used.llm_output_tokens).toBe(text.length + SLACK);
    expect(used.llm_input_tokens).toBeGreaterThan(0);
  });

  test("an aborted call is charged what was held for it, because nobody knows how far it came", async () => {
    await using at = await openScene([{ kind: "hang" }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const stop = new AbortController();
    const asked = at.budget.run(() =>
      generateText({ model, prompt: "Bolts?", maxOutputTokens: 500, abortSignal: stop.signal }).catch(
        (each: unknown) => each,
      ),
    );
    await until(() => at.server.count === 1);
    stop.abort();
    expect(await asked).toMatchObject({ name: "AbortError" });
    await until(() => at.server.aborted === 1);
    expect(await usedIn(at.budget)).toMatchObject({ steps: 1, llm_output_tokens: 500 });
  });

  test("a call that was aborted before it began is not made", async () => {
    await using at = await openScene([], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const abortSignal = AbortSignal.abort();
    const asked = at.budget.run(() =>
      generateText({ model, prompt: "Bolts?", abortSignal }).catch((each: unknown) => each),
    );
    expect(await asked).toMatchObject({ name: "AbortError" });
    expect(at.server.count).toBe(0);
    expect(await usedIn(at.budget)).toMatchObject({ steps: 0 });
  });

  test("a provider that ignores the limit is stopped there, and the stream ends as if it had obeyed", async () => {
    const answer = { kind: "text", text: TEXT.repeat(20), ignores_limit: true, piece_ms: 1 } as const;
    await using at = await openScene([answer], { llm_output_tokens: 40 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const result = at.budget.run(() => streamText({ model, prompt: "Bolts?" }));
    let text = "";
    for await (const piece of result.textStream) text += piece;
    expect(await result.finishReason).toBe("length");
    expect(text.length).toBeLessThan(TEXT.length * 10);
    await until(() => at.server.aborted === 1);
    const { used, exhausted } = await at.budget.state();
    expect(used.llm_output_tokens).toBeGreaterThan(40);
    expect(exhausted).toEqual(["llm_output_tokens"]);
  });

  test("a call that outlives its budget's time is broken off, and told as a refusal", async () => {
    const clock = new FakeClock();
    await using at = await openScene(() => ({ kind: "hang" }), { wall_clock_ms: 1000 }, { clock, timer: clock });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const asked = at.budget.run(() => generateText({ model, prompt: "Bolts?" }).catch((each: unknown) => each));
    await until(() => at.server.count === 1);
    clock.advance(1001);
    const error = await asked;
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect((error as Error).message).toContain("time has run out");
    expect(at.server.count).toBe(1);
  });

  test("an answer without usage is charged what was held", async () => {
    await using at = await openScene([{ kind: "text", text: "Yes.", usage: null }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    await at.budget.run(() => generateText({ model, prompt: "Bolts?", maxOutputTokens: 300 }).catch(() => null));
    expect(await usedIn(at.budget)).toMatchObject({ llm_output_tokens: 300 });
  });

  test("what a provider refuses or cannot take on costs nothing but the attempt", async () => {
    const statuses = [400, 401, 529] as const;
    await using at = await openScene(
      statuses.map((status) => ({ kind: "status", status })),
      { cost_usd: 1 },
    );
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    for (const _ of statuses) {
      await at.budget.run(() => generateText({ model, prompt: "Bolts?", maxRetries: 0 }).catch(() => null));
    }
    expect(await usedIn(at.budget)).toMatchObject({ steps: 3, llm_tokens: 0, cost_usd: 0 });
  });

  test("after a failure of the provider's nobody knows, so that what was held is charged", async () => {
    await using at = await openScene([{ kind: "status", status: 500 }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    await at.budget.run(() =>
      generateText({ model, prompt: "Bolts?", maxOutputTokens: 70, maxRetries: 0 }).catch(() => 0),
    );
    expect(await usedIn(at.budget)).toMatchObject({ steps: 1, llm_output_tokens: 70 });
  });

  test("a request that was never sent costs nothing", async () => {
    await using at = await openScene([], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    await at.server[Symbol.asyncDispose]();
    const asked = at.budget.run(() => generateText({ model, prompt: "Bolts?", maxRetries: 0 }));
    await expect(asked).rejects.toBeInstanceOf(APICallError);
    expect(await usedIn(at.budget)).toMatchObject({ llm_tokens: 0, cost_usd: 0 });
  });

  test("an address that fetch sends nothing to costs nothing", async () => {
    await using at = await openScene([], { cost_usd: 1 });
    const model = govern(modelOn(wire, { url: "http://127.0.0.1:1/v1" }), { prices: PRICES });
    const asked = at.budget.run(() => generateText({ model, prompt: "Bolts?", maxRetries: 0 }));
    await expect(asked).rejects.toThrow("bad port");
    expect(await usedIn(at.budget)).toMatchObject({ steps: 1, llm_tokens: 0, cost_usd: 0 });
  });

  test("a refusal of the wire further down is one here too, and no attempt", async () => {
    await using at = await openScene([], { cost_usd: 1 });
    await using small = await openBudget({ cost_usd: 0.000001 });
    const model = govern(modelOn(wire, at.server, { budget: small }), { prices: PRICES });
    const asked = at.budget.run(() => generateText({ model, prompt: "Bolts?" }));
    await expect(asked).rejects.toMatchObject({ name: "BudgetExceededError", report: { scope: small.id } });
    expect(at.server.count).toBe(0);
    expect(await usedIn(at.budget)).toMatchObject({ steps: 0, cost_usd: 0 });
  });
});

/** A store that cannot write down what calls have used. */
class ForgetfulStore extends MemoryStore {
  override apply<const List extends readonly Operation[]>(operations: List): Promise<Outcomes<List>> {
    if (operations.some(({ op }) => op === "commit")) throw new Error("the disk is full");
    return super.apply(operations);
  }
}

test("an answer whose cost could not be recorded is handed on, and stays reserved", async () => {
  const store = new ForgetfulStore();
  await using server = await openScriptedModel({ script: () => "Yes.", models: [GPT] });
  const budget = await openBudget({ cost_usd: 1 }, { store });
  const model = govern(modelOn("openai-chat", server), { prices: PRICES });
  const { text } = await budget.run(() => generateText({ model, prompt: "Bolts?" }));
  expect(text).toBe("Yes.");
  const streamed = budget.run(() => streamText({ model, prompt: "Bolts?" }));
  expect(await streamed.text).toBe("Yes.");
  expect((await budget.state()).held.steps).toBe(2);
});
