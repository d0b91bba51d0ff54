import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { createAdapter, type EvaluateOptions } from "../../src/prompt/adapter.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import { type Provider, ProviderError, type ProviderResponse } from "../../src/prompt/provider.js";
import type { RenderedPrompt } from "../../src/prompt/rendered-prompt.js";
import type { AdapterOptions } from "../../src/prompt/settings.js";
import type { Tool } from "../../src/prompt/tool.js";
import { calls, failureOf, says, scripted } from "./scripted.js";

const greeting = { name: "greeting", text: "Say hello." };
const limited = () => new Budget({ tokenLimit: { input: 100, output: 50 } });
const withTool = (handler: Tool["handler"]): RenderedPrompt => ({ ...greeting, tools: [{ name: "tool", handler }] });

describe("a response that cannot be used", () => {
  const garbage: readonly (readonly [string, unknown])[] = [
    ["response", undefined],
    ["response", "hello"],
    ["response.text", { text: 7 }],
    ["response.toolCalls", { text: "", toolCalls: {} }],
    ["response.toolCalls[0].id", { text: "", toolCalls: [null] }],
    ["response.toolCalls[1].name", { text: "", toolCalls: [calls("a", 0, 0).toolCalls?.[0], { id: "b" }] }],
    ["response.ending", { text: "", ending: "maybe" }],
    ["response.usage", { text: "", usage: 12 }],
    ["response.usage.output", { text: "", usage: { input: 1 } }],
    ["response.cumulativeUsage.input", { text: "", cumulativeUsage: { input: -1, output: 0 } }],
  ];

  test.each(garbage)("names %s", async (field, response) => {
    const budget = limited();
    const provider = scripted([() => response as ProviderResponse], { input: 30, output: 20 });

    const error = await failureOf(evaluate(provider, greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", promptName: "greeting", cause: { field } });
    expect(nodeOf(budget).usage()).toEqual({ input: 30, output: 20 });
  });

  test("is charged what it reports all the same", async () => {
    const budget = limited();
    const response = { usage: { input: 3, output: 2 } } as ProviderResponse;

    const error = await failureOf(evaluate(scripted([response]), greeting, { budget }));

    expect(error).toMatchObject({ cause: { field: "response.text" }, budget: { estimated: false } });
    expect(nodeOf(budget).usage()).toEqual({ input: 3, output: 2 });
  });
});

describe("a response that throws when it is looked at", () => {
  const thrown = (): never => {
    throw new Error("hands off");
  };
  const guarded = (field: string, rest: object = {}) =>
    Object.defineProperty({ ...rest }, field, { get: thrown, enumerable: true }) as ProviderResponse;
  const reports = { text: "", usage: { input: 3, output: 2 } };

  test.each([
    ["text", {}],
    ["toolCalls", {}],
    ["usage", {}],
    ["estimated", reports],
  ])("in %s is settled, and holds up nobody", async (field, rest) => {
    for (const output of [50, null]) {
      const budget = new Budget({ tokenLimit: { input: 1000, output } });
      const provider = scripted([guarded(field, rest), says("hello", 1, 1)]);

      expect(await failureOf(evaluate(provider, greeting, { budget }))).toMatchObject({ phase: "request" });
      expect(nodeOf(budget).usage().input).toBeGreaterThan(0);
      // Nothing is held any more: whoever comes next is answered or refused, and does not wait.
      await evaluate(provider, greeting, { budget }).catch(() => {});
    }
  });
});

describe("a budget that nobody would hear of", () => {
  const provider = scripted([]);
  const budget = limited();

  test.each([
    ["options.bugdet", () => createAdapter(provider).evaluate(greeting, { bugdet: budget } as EvaluateOptions)],
    ["options.budget", async () => createAdapter(provider, { budget } as AdapterOptions)],
    ["options.bugdet", () => evaluate(provider, greeting, { bugdet: budget } as EvaluateOptions)],
    ["prompt.bugdet", () => evaluate(provider, { ...greeting, bugdet: budget } as RenderedPrompt)],
    ["prompt.deadline", () => evaluate(provider, { ...greeting, deadline: 5 } as RenderedPrompt)],
    ["prompt.tokenLimit", () => evaluate(provider, { ...greeting, tokenLimit: { input: 5 } } as RenderedPrompt)],
  ])("is refused as %s", async (field, attempt) => {
    await expect(attempt()).rejects.toMatchObject({ name: "InputError", field });
    expect(provider.requests).toEqual([]);
  });

  test("is not what a prompt's further fields are", async () => {
    const further = { ...greeting, template: "greeting.md", widget: "bar", token: "t" } as RenderedPrompt;
    expect(await evaluate(scripted([says("hello", 1, 1)]), further)).toMatchObject({ text: "hello" });
  });
});

describe("a provider", () => {
  test("that throws at once fails like one that rejects", async () => {
    const provider: Provider = {
      complete() {
        throw new Error("no key");
      },
    };

    expect(await failureOf(evaluate(provider, greeting))).toMatchObject({
      phase: "request",
      budget: null,
      message: "prompt greeting failed: its provider threw",
      cause: new Error("no key"),
    });
  });

  test("whose quote fails is not asked", async () => {
    const budget = limited();
    const provider = scripted([says("never", 1, 1)], () => Promise.reject(new Error("no tokenizer")));

    const error = await failureOf(evaluate(provider, greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", cause: new Error("no tokenizer") });
    expect(provider.requests).toEqual([]);
    expect(nodeOf(budget).usage()).toEqual({ input: 0, output: 0 });
  });

  test("may quote later", async () => {
    const provider = scripted([says("hello", 1, 1)], async () => ({ input: 10, output: 5 }));

    await evaluate(provider, greeting, { budget: limited() });

    expect(provider.requests[0]?.maxOutputTokens).toBe(5);
  });

  test("that cannot be held to what remains is not asked", async () => {
    const quote = (leastOutput: number) => () => ({ input: 10, output: 80, leastOutput });
    const refused = scripted([says("never", 1, 1)], quote(51));
    const asked = scripted([says("hello", 1, 1)], quote(50));

    const error = await failureOf(evaluate(refused, greeting, { budget: limited() }));
    await evaluate(asked, greeting, { budget: limited() });

    expect(error).toMatchObject({ phase: "budget", dimension: "output" });
    expect(refused.requests).toEqual([]);
    expect(asked.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([50]);
  });

  test("whose quote makes no sense is not asked", async () => {
    const provider = scripted([says("never", 1, 1)], () => ({ input: 10, output: 5, leastOutput: -1 }));

    const error = await failureOf(evaluate(provider, greeting, { budget: limited() }));

    expect(error.cause).toMatchObject({ field: "quote.leastOutput" });
    expect(provider.requests).toEqual([]);
  });

  test("that says an answer is not whole is believed", async () => {
    const ending = "filtered";
    const ran: unknown[] = [];
    const tool = withTool(() => ran.push("tool"));

    const response = await evaluate(scripted([{ ...says("No", 1, 1), ending }]), greeting);
    const error = await failureOf(evaluate(scripted([{ ...calls("tool", 1, 1), ending }]), tool));

    expect(response).toMatchObject({ text: "No", ending });
    expect(error).toMatchObject({ phase: "request", message: expect.stringContaining("by a filter") });
    expect(ran).toEqual([]);
  });

  test("may say of a failure what it can have used at most", async () => {
    const budget = limited();
    const failure = new ProviderError("broken off", { usage: { input: 20, output: 7 }, estimated: true });

    const error = await failureOf(evaluate(scripted([failure]), greeting, { budget }));

    expect(error.budget).toMatchObject({ usage: { input: 20, output: 7 }, estimated: true });
  });

  test("is not told of handlers", async () => {
    const inputSchema = { type: "object" };
    const tool: Tool = { name: "tool", description: "Does it", inputSchema, handler: () => "ok" };
    const provider = scripted([says("hello", 1, 1)]);

    await evaluate(provider, { ...greeting, tools: [tool] });

    expect(provider.requests[0]?.tools).toEqual([{ name: "tool", description: "Does it", inputSchema }]);
    expect(provider.requests[0]?.maxOutputTokens).toBeNull();
  });
});

describe("a tool", () => {
  test("that throws ends the evaluation", async () => {
    const broken = withTool(() => {
      throw new Error("broken");
    });

    expect(await failureOf(evaluate(scripted([calls("tool", 1, 1)]), broken))).toMatchObject({
      phase: "tool",
      message: "prompt greeting cannot go on: tool tool threw",
      cause: new Error("broken"),
    });
  });

  test("that throws nothing at all ends it too", async () => {
    const broken = withTool(() => Promise.reject());

    expect(await failureOf(evaluate(scripted([calls("tool", 1, 1)]), broken))).toMatchObject({ phase: "tool" });
  });

  test("that nobody knows ends it", async () => {
    const error = await failureOf(
      evaluate(
        scripted([calls("tol", 1, 1)]),
        withTool(() => "ok"),
      ),
    );
    const none = await failureOf(evaluate(scripted([calls("tol", 1, 1)]), greeting));

    expect(error).toMatchObject({
      phase: "tool",
      message: 'prompt greeting has no tool "tol", which the model called; known: tool',
    });
    expect(none.message).toContain("known: none");
  });

  test("whose output has no JSON ends it", async () => {
    const error = await failureOf(
      evaluate(
        scripted([calls("tool", 1, 1)]),
        withTool(() => 1n),
      ),
    );

    expect(error).toMatchObject({
      phase: "tool",
      message: "prompt greeting cannot go on: the output of tool tool cannot be written as JSON",
    });
  });

  test("cannot change its context", async () => {
    const frozen = withTool((_input, context) => Object.assign(context, { budget: null }));

    const error = await failureOf(evaluate(scripted([calls("tool", 1, 1)]), frozen, { budget: limited() }));

    expect(error).toMatchObject({ phase: "tool", cause: { name: "TypeError" } });
  });
});

describe("input that makes no sense is refused before anything happens:", () => {
  const tool: Tool = { name: "tool", handler: () => "ok" };
  const prompts: readonly (readonly [string, unknown])[] = [
    ["prompt", null],
    ["prompt.name", { text: "?" }],
    ["prompt.name", { name: "", text: "?" }],
    ["prompt.text", { name: "a" }],
    ["prompt.text", { name: "a", text: "?", messages: [] }],
    ["prompt.messages", { name: "a", messages: "?" }],
    ["prompt.messages[0]", { name: "a", messages: [null] }],
    ["prompt.messages[1]", { name: "a", messages: [{ role: "user", content: "?" }, { role: "user" }] }],
    ["prompt.tools", { name: "a", text: "?", tools: {} }],
    ["prompt.tools[0].name", { name: "a", text: "?", tools: [null] }],
    ["prompt.tools[0].handler", { name: "a", text: "?", tools: [{ name: "tool" }] }],
    ["prompt.tools[1].name", { name: "a", text: "?", tools: [tool, tool] }],
    ["prompt.budget", { name: "a", text: "?", budget: { tokenLimit: null } }],
  ];
  const options: readonly (readonly [string, unknown])[] = [
    ["options.budget", { budget: { ...limited() } }],
    ["options.budget", { budget: 5 }],
    ["options.signal", { signal: {} }],
    ["options.signal", { signal: null }],
    ["maxRounds", { maxRounds: 0 }],
    ["maxRounds", { maxRounds: 1.5 }],
    ["maxDepth", { maxDepth: -1 }],
  ];

  test.each(prompts)("%s", async (field, prompt) => {
    const evaluation = evaluate(scripted([]), prompt as RenderedPrompt);

    await expect(evaluation).rejects.toBeInstanceOf(InputError);
    await expect(evaluation).rejects.toMatchObject({ field });
  });

  test.each(options)("%s", async (field, given) => {
    const evaluation = evaluate(scripted([]), greeting, given as EvaluateOptions & AdapterOptions);

    await expect(evaluation).rejects.toMatchObject({ name: "InputError", field });
  });

  test("a provider without complete", () => {
    expect(() => createAdapter({} as Provider)).toThrow(
      "provider is an object; allowed: an object with a method complete",
    );
    expect(() => createAdapter(null as never)).toThrow("provider is null");
  });
});
