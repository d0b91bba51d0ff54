import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateText, type ModelMessage, stepCountIs, streamText, tool } from "ai";
import { openStore } from "bursar";
import { expect, test } from "vitest";
import { z } from "zod";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { budgetStop } from "../../../src/models/ai/budget-stop.js";
import { govern } from "../../../src/models/ai/govern.js";
import { nested } from "../../../src/models/ai/nested.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import type { Script } from "../../../src/testing/scripted-model.js";
import { modelOn, openScene, PRICES, type Scene, usedIn } from "./scene.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const COST = 0.0003;

/** Wants its tool again and again, for as long as it is asked. */
const tireless: Script = ({ number }) => ({
  kind: "text",
  text: `Step ${number}.`,
  usage: USAGE,
  tool_calls: [{ name: "search", arguments: { query: "bolts" } }],
});

function toolsOf(execute: (query: string) => unknown) {
  return { search: tool({ inputSchema: z.object({ query: z.string() }), execute: ({ query }) => execute(query) }) };
}

/** A place for a store that two processes could share. */
async function openFolder(): Promise<AsyncDisposable & { readonly url: string }> {
  const folder = await mkdtemp(join(tmpdir(), "bursar-"));
  return {
    url: `sqlite:${join(folder, "budgets.db")}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function governedIn({ server }: Scene) {
  return govern(modelOn("openai-chat", server), { prices: PRICES });
}

test("a loop ends with a refusal when its budget is used up", async () => {
  await using at = await openScene(tireless, { steps: 3 });
  const model = governedIn(at);
  const tools = toolsOf(() => "none");
  const error = await at.budget.run(() =>
    generateText({ model, prompt: "Bolts?", tools, stopWhen: stepCountIs(20) }).catch((each: unknown) => each),
  );
  expect(error).toBeInstanceOf(BudgetExceededError);
  expect((error as BudgetExceededError).report).toMatchObject({ dimension: "steps", limit: 3, used: 3 });
  expect(at.server.count).toBe(3);
});

test("with budgetStop it ends cleanly, after the step that used it up", async () => {
  await using at = await openScene(tireless, { steps: 3 });
  const model = governedIn(at);
  const tools = toolsOf(() => "none");
  const { steps, text } = await at.budget.run(() =>
    generateText({ model, prompt: "Bolts?", tools, stopWhen: [budgetStop(), stepCountIs(20)] }),
  );
  expect([steps.length, text]).toEqual([3, "Step 3."]);
  expect(at.server.count).toBe(3);
});

test("budgetStop stops nobody while something is left, and outside of any budget it says so", async () => {
  await using at = await openScene(tireless, { steps: 1, cost_usd: 0 });
  expect(await at.budget.run(budgetStop())).toBe(false);
  expect(await budgetStop({ budget: at.budget })()).toBe(false);
  await expect(budgetStop()()).rejects.toMatchObject({ code: "no_budget" });
});

test("a step is one iteration, however often the SDK has to ask for it", async () => {
  const busy = { kind: "status", status: 429, headers: { "retry-after-ms": "1" } } as const;
  const again: Script = (request) => (request.number % 2 === 1 ? busy : (tireless as CallableFunction)(request));
  await using at = await openScene(again, { iterations: 10, cost_usd: 1 });
  const model = governedIn(at);
  const loop = { model, prompt: "Bolts?", tools: toolsOf(() => "none"), stopWhen: stepCountIs(2) };
  await at.budget.run(() => generateText(loop));
  expect(await usedIn(at.budget)).toMatchObject({ steps: 4, iterations: 2, cost_usd: 2 * COST });
  await at.budget.run(() => streamText(loop).consumeStream());
  expect(await usedIn(at.budget)).toMatchObject({ steps: 8, iterations: 4, cost_usd: 4 * COST });
});

test("a loop has as many iterations as its budget", async () => {
  await using at = await openScene(tireless, { iterations: 2 });
  const model = governedIn(at);
  const asked = at.budget.run(() =>
    generateText({ model, prompt: "Bolts?", tools: toolsOf(() => "none"), stopWhen: stepCountIs(20) }),
  );
  const refused = BudgetExceededError.from(await asked.catch((each: unknown) => each));
  expect(refused?.report).toMatchObject({ dimension: "iterations", used: 2, limit: 2 });
  expect(at.server.count).toBe(2);
});

test.for(["generate", "stream"])("a sub-agent's refusal does not let its parent go on (%s)", async (way) => {
  await using at = await openScene(tireless, { cost_usd: 0.05 });
  const model = governedIn(at);
  const inner: unknown[] = [];
  const tools = toolsOf(async () => {
    const asked = generateText({ model, prompt: "x".repeat(100_000), maxRetries: 0 });
    return asked.catch((error: unknown) => {
      inner.push(error);
      throw error;
    });
  });
  const outer: unknown[] = [];
  await at.budget.run(async () => {
    const loop = { model, prompt: "Bolts?", tools, stopWhen: stepCountIs(20) };
    if (way === "generate") await generateText(loop).catch((error: unknown) => outer.push(error));
    else await streamText({ ...loop, onError: ({ error }) => void outer.push(error) }).consumeStream();
  });
  expect(inner).toEqual([expect.any(BudgetExceededError)]);
  expect(outer).toContainEqual(expect.any(BudgetExceededError));
  expect(at.server.count).toBe(1);
  expect(await usedIn(at.budget)).toMatchObject({ steps: 1, cost_usd: COST });
});

test("a model that a tool asks is charged beside the one that wanted the tool, also while that one streams", async () => {
  const script: Script = (request) =>
    request.number === 1 ? (tireless as CallableFunction)(request) : { kind: "text", text: "Done.", usage: USAGE };
  await using at = await openScene(script, { cost_usd: 1, iterations: 10 });
  const model = governedIn(at);
  const tools = toolsOf(async () => (await generateText({ model, prompt: "Bolts!" })).text);
  await at.budget.run(() => streamText({ model, prompt: "Bolts?", tools, stopWhen: stepCountIs(5) }).consumeStream());
  expect(at.server.count).toBe(3);
  expect(await usedIn(at.budget)).toMatchObject({ steps: 3, iterations: 3, cost_usd: 3 * COST, llm_tokens: 360 });
});

test("agents that use agents are as deep as their tools say", async () => {
  await using at = await openScene(tireless, { depth: 1 });
  const model = governedIn(at);
  let deepest = 0;
  const agent = (level: number): Promise<unknown> => {
    deepest = Math.max(deepest, level);
    const tools = { search: nested(toolsOf(() => agent(level + 1)).search) };
    return generateText({ model, prompt: "Bolts?", tools, stopWhen: stepCountIs(2) });
  };
  const error = await at.budget.run(() => agent(0).catch((each: unknown) => each));
  expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "depth" });
  expect([deepest, at.server.count]).toEqual([2, 2]);
  expect(() => nested({})).toThrow("tool");
});

test("two hundred calls at once never send more than fits", async () => {
  await using at = await openScene(() => ({ kind: "text", text: "Yes.", usage: USAGE }), { steps: 50, cost_usd: 1 });
  const model = governedIn(at);
  const asked = at.budget.run(() =>
    Promise.allSettled(
      Array.from({ length: 200 }, () => generateText({ model, prompt: "Bolts?", maxOutputTokens: 20 })),
    ),
  );
  const done = (await asked).filter(({ status }) => status === "fulfilled").length;
  expect([done, at.server.count]).toEqual([50, 50]);
  expect(await usedIn(at.budget)).toMatchObject({ steps: 50, llm_tokens: 6000 });
});

test("a loop that needs an approval is kept as JSON, and goes on from there once a person has extended its budget", async () => {
  const script: Script = (request) =>
    request.number < 4 ? (tireless as CallableFunction)(request) : { kind: "text", text: "Found.", usage: USAGE };
  await using folder = await openFolder();
  const named = { name: "search-for-bolts", policies: { steps: "approval_required" } } as const;
  await using store = await openStore(folder.url);
  await using at = await openScene(script, { steps: 2 }, { ...named, store });
  const model = governedIn(at);
  let searches = 0;
  const tools = toolsOf(() => ++searches);
  const loop = { model, tools, stopWhen: stepCountIs(20) };

  // It runs until it is refused; what it has said and done so far is all that is kept.
  const messages: ModelMessage[] = [{ role: "user", content: "Bolts?" }];
  const kept = () => JSON.stringify(messages);
  const error = await at.budget.run(() =>
    generateText({
      ...loop,
      messages: [...messages],
      // Some versions of the SDK tell the messages of this step, others all of them so far.
      onStepFinish: ({ response }) => {
        for (const each of response.messages) if (!kept().includes(JSON.stringify(each))) messages.push(each);
      },
    }).catch((each: unknown) => each),
  );
  expect(BudgetExceededError.from(error)?.report).toMatchObject({ code: "approval_required", dimension: "steps" });
  expect([at.server.count, searches]).toEqual([2, 2]);
  const text = kept();

  // Elsewhere, a person looks at the budget by its name and extends it, and somebody goes on from the text.
  await using otherStore = await openStore(folder.url);
  const seenElsewhere = await openBudget({}, { ...named, store: otherStore });
  expect((await seenElsewhere.state()).exhausted).toEqual(["steps"]);
  await seenElsewhere.extend({ steps: 5 }, { approved_by: "ada", reason: "nearly there" });

  const resumed = await seenElsewhere.run(() =>
    generateText({ ...loop, messages: JSON.parse(text) as ModelMessage[] }),
  );
  expect(resumed.text).toBe("Found.");
  expect([at.server.count, searches]).toEqual([4, 3]);
  expect(at.server.requests[2]?.messages).toHaveLength(5);
  expect(await usedIn(at.budget)).toMatchObject({ steps: 4, llm_tokens: 480 });
});

test("a person can be asked in place, and the same call passes", async () => {
  const asked: string[] = [];
  const approve = async ({ dimension }: { dimension: string }) => {
    asked.push(dimension);
    return { steps: 2 };
  };
  const script: Script = (request) => (request.number < 3 ? (tireless as CallableFunction)(request) : "Found.");
  await using at = await openScene(script, { steps: 1 }, { approve, policies: { steps: "approval_required" } });
  const model = governedIn(at);
  const { text } = await at.budget.run(() =>
    generateText({ model, prompt: "Bolts?", tools: toolsOf(() => "none"), stopWhen: stepCountIs(20) }),
  );
  expect([text, asked, at.server.count]).toEqual(["Found.", ["steps"], 3]);
});
