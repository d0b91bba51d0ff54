import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { createAdapter } from "../../src/prompt/adapter.js";
import { Budget } from "../../src/prompt/budget.js";
import { Deadline } from "../../src/prompt/deadline.js";
import { BudgetExceededError } from "../../src/prompt/errors.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import type { Tool, ToolContext } from "../../src/prompt/tool.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { calls, failureOf, overageOf, says, scripted } from "./scripted.js";

const greeting = { name: "greeting", text: "Say hello." };

scenario("003/evaluate-budget", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const provider = scripted([says("hello", 10, 5)]);

  const response = await createAdapter(provider).evaluate(greeting, { budget });

  expect(response).toEqual({
    promptName: "greeting",
    text: "hello",
    ending: "whole",
    usage: { input: 10, output: 5 },
    estimated: false,
    toolExecutions: [],
    budget,
  });
  expect(provider.requests[0]?.messages).toEqual([{ role: "user", content: "Say hello." }]);
});

scenario("003/evaluate-budget", "null is no budget", async () => {
  const provider = () => scripted([says("hello", 10 ** 9, 10 ** 9)]);

  expect(await evaluate(provider(), greeting, { budget: null })).toMatchObject({ text: "hello", budget: null });
  expect(await evaluate(provider(), { ...greeting, budget: null })).toMatchObject({ text: "hello", budget: null });
  expect(await createAdapter(provider()).evaluate(greeting)).toMatchObject({ text: "hello", budget: null });
});

scenario("003/rendered-prompt-budget", async () => {
  const own = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const given = new Budget({ tokenLimit: { input: 70, output: 30 } });
  const prompt = { ...greeting, budget: own };

  const underOwn = await evaluate(scripted([says("hello", 10, 5)]), prompt);
  const underGiven = await evaluate(scripted([says("hello", 10, 5)]), prompt, { budget: given });
  const nullGiven = await evaluate(scripted([says("hello", 10, 5)]), prompt, { budget: null });

  expect(underOwn.budget).toBe(own);
  expect(underGiven.budget).toBe(given);
  expect(nullGiven.budget).toBe(own);
});

scenario("003/tool-context-budget", async () => {
  const clock = new FakeClock({ instant: 1_000 });
  const budget = new Budget({ deadline: new Deadline(61_000), tokenLimit: { input: 100, output: null } }, { clock });
  const seen: unknown[] = [];
  const look = (context: ToolContext) => [context.usage(), context.remainingTime(), context.remainingTokens()];
  const tool: Tool = {
    name: "look",
    handler(_input, context) {
      seen.push(context.budget, look(context));
      clock.advance(1_000);
      context.reportTokens({ input: 7, output: 3 });
      seen.push(look(context));
      return { looked: true };
    },
  };

  const response = await evaluate(
    scripted([calls("look", 20, 10), says("done", 30, 10)]),
    { ...greeting, tools: [tool] },
    { budget, timer: clock },
  );

  expect(seen).toEqual([
    budget,
    [{ input: 20, output: 10 }, 60_000, { input: 80, output: null }],
    [{ input: 27, output: 13 }, 59_000, { input: 73, output: null }],
  ]);
  expect(response.toolExecutions).toEqual([
    { tool: "look", input: {}, output: { looked: true }, usage: { input: 7, output: 3 }, estimated: false, budget },
  ]);
  expect(response.usage).toEqual({ input: 57, output: 23 });
});

scenario("003/preflight-validation", "an expired deadline", async () => {
  const clock = new FakeClock({ instant: 1_000 });
  const budget = new Budget({ deadline: new Deadline(2_000) }, { clock });
  const provider = scripted([says("hello", 1, 1)], { input: 1, output: 1 });
  clock.advance(1_000);

  const error = await failureOf(evaluate(provider, greeting, { budget, timer: clock }));

  expect(error).not.toBeInstanceOf(BudgetExceededError);
  expect(error).toMatchObject({
    phase: "preflight",
    promptName: "greeting",
    message:
      "prompt greeting cannot start: the deadline 1970-01-01T00:00:02.000Z has passed; give a later one with a new Budget",
  });
  expect(provider.requests).toEqual([]);
});

scenario("003/preflight-validation", "exhausted tokens", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 5 } });
  const provider = scripted([says("hello", 10, 5), says("hello", 10, 5)]);
  await evaluate(provider, greeting, { budget });

  const error = await failureOf(evaluate(provider, greeting, { budget }));

  expect(error).not.toBeInstanceOf(BudgetExceededError);
  expect(error).toMatchObject({
    phase: "preflight",
    message:
      "prompt greeting cannot start: 5 of 5 output tokens are used; give a larger tokenLimit.output with a new Budget",
  });
  expect(provider.requests).toHaveLength(1);
});

scenario("003/preflight-validation", "a limit of zero", async () => {
  const provider = scripted([says("hello", 0, 0)], { input: 0, output: 0 });

  const error = await failureOf(evaluate(provider, { ...greeting, budget: new Budget({ tokenLimit: { input: 0 } }) }));

  expect(error.phase).toBe("preflight");
  expect(provider.requests).toEqual([]);
});

scenario("003/provider-requests", "projected costs that do not fit", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const provider = scripted([says("hello", 10, 5)], { input: 101, output: 5 });

  const error = await overageOf(evaluate(provider, greeting, { budget }));

  expect(error).toMatchObject({
    phase: "budget",
    dimension: "input",
    message:
      "prompt greeting is stopped: 0 of 100 input tokens are used and the request may take 101 more; " +
      "shorten it or give a larger tokenLimit.input with a new Budget",
  });
  expect(provider.requests).toEqual([]);
  const again = await failureOf(evaluate(scripted([]), greeting, { budget }));
  expect(again.message).toContain("0 of 100 input tokens are used, and a request that did not fit has been refused");
});

scenario("003/provider-requests", "output is held to what remains", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const provider = scripted([calls("noop", 40, 30), says("done", 60, 20)], { input: 60, output: 40 });
  const noop: Tool = { name: "noop", handler: () => "ok" };

  const response = await evaluate(provider, { ...greeting, tools: [noop] }, { budget });

  expect(provider.requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40, 20]);
  expect(response.usage).toEqual({ input: 100, output: 50 });
});

scenario("003/provider-requests", "an exhausted dimension", async () => {
  const clock = new FakeClock();
  const deadline = new Deadline(clock.now().instant + 1_000);
  const budget = new Budget({ deadline }, { clock });
  const provider = scripted([calls("slow", 1, 1), says("too late", 1, 1)]);
  const slow: Tool = { name: "slow", handler: () => clock.advance(999) };
  const late: Tool = { name: "late", handler: () => clock.jump(1) };

  const inTime = await evaluate(provider, { ...greeting, tools: [slow] }, { budget, timer: clock });
  const blocked = scripted([calls(["late", "late"], 1, 1), says("too late", 1, 1)]);
  const other = new Budget({ deadline: new Deadline(deadline.at) }, { clock });
  const error = await overageOf(evaluate(blocked, { ...greeting, tools: [late] }, { budget: other, timer: clock }));

  expect(inTime.text).toBe("too late");
  expect(error).toMatchObject({ phase: "budget", dimension: "deadline" });
  expect(blocked.requests).toHaveLength(1);
});

scenario("003/finalization", "over the limit", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });

  const error = await overageOf(evaluate(scripted([says("too much", 10, 51)]), greeting, { budget }));

  expect(error).toMatchObject({
    phase: "response",
    dimension: "output",
    promptName: "greeting",
    message: "prompt greeting ended with 51 output tokens used; its budget allows 50",
  });
  expect(error.budget).toMatchObject({ usage: { input: 10, output: 51 }, remainingTokens: { input: 90, output: -1 } });
});

scenario("003/finalization", "on the limit is legal", async () => {
  const budget = new Budget({ tokenLimit: { input: 10, output: 50 } });

  expect(await evaluate(scripted([says("just enough", 10, 50)]), greeting, { budget })).toMatchObject({
    text: "just enough",
    usage: { input: 10, output: 50 },
  });
});

scenario("003/finalization", "after the deadline", async () => {
  const clock = new FakeClock();
  const at = clock.now().instant + 1_000;
  const arrivesAt = (late: number) =>
    scripted([
      () => {
        clock.jump(1_000 + late);
        return says("done", 1, 1);
      },
    ]);
  const budget = () => new Budget({ deadline: new Deadline(at) }, { clock });

  const onTime = await evaluate(arrivesAt(0), greeting, { budget: budget(), timer: clock });
  clock.jump(-1_000);
  const error = await overageOf(evaluate(arrivesAt(3), greeting, { budget: budget(), timer: clock }));

  expect(onTime.text).toBe("done");
  expect(error).toMatchObject({
    phase: "response",
    dimension: "deadline",
    message: "prompt greeting ended 3 ms after its deadline",
  });
});

scenario("003/adapter-tests", "a loop of tools ends at the limit", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 1_000 } });
  const ran: number[] = [];
  const tool: Tool = { name: "again", handler: () => ran.push(ran.length) };
  const provider = scripted(Array.from({ length: 10 }, () => calls("again", 30, 1)));

  const error = await overageOf(evaluate(provider, { ...greeting, tools: [tool] }, { budget }));

  expect(error).toMatchObject({ phase: "budget", dimension: "input" });
  expect(error.budget?.usage).toEqual({ input: 120, output: 4 });
  expect(provider.requests).toHaveLength(4);
  expect(ran).toEqual([0, 1, 2]);
});

scenario("003/adapter-tests", "nothing runs once the limit is met", async () => {
  const budget = new Budget({ tokenLimit: { input: 30 } });
  const ran: string[] = [];
  const tool: Tool = { name: "effect", handler: () => ran.push("effect") };

  const error = await overageOf(
    evaluate(scripted([calls("effect", 30, 1)]), { ...greeting, tools: [tool] }, { budget }),
  );

  expect(error).toMatchObject({ phase: "budget", dimension: "input" });
  expect(ran).toEqual([]);
});

test("the conversation grows by calls and their outputs, strings as they are and the rest as JSON", async () => {
  const outputs: Record<string, unknown> = { text: "plain", object: { a: 1 }, nothing: undefined };
  const tools = Object.entries(outputs).map(([name, output]): Tool => ({ name, handler: async () => output }));
  const reply = calls(["text", "object", "nothing"], 1, 1);
  const provider = scripted([reply, says("done", 1, 1)]);
  const messages = [{ role: "system" as const, content: "Be brief." }];

  await evaluate(provider, { name: "chat", messages, tools });

  expect(provider.requests[0]?.tools).toEqual([{ name: "text" }, { name: "object" }, { name: "nothing" }]);
  expect(provider.requests[1]?.messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "assistant", content: "", toolCalls: reply.toolCalls },
    { role: "tool", toolCallId: "call-0", name: "text", content: "plain" },
    { role: "tool", toolCallId: "call-1", name: "object", content: '{"a":1}' },
    { role: "tool", toolCallId: "call-2", name: "nothing", content: "" },
  ]);
});

test("a tool that uses up the budget in the last round is an overage, not a lack of rounds", async () => {
  const budget = new Budget({ tokenLimit: { input: 100 } });
  const greedy: Tool = {
    name: "greedy",
    handler: (_input, { reportTokens }) => reportTokens({ input: 99, output: 0 }),
  };

  const error = await overageOf(
    evaluate(scripted([calls("greedy", 1, 1)]), { ...greeting, tools: [greedy] }, { budget, maxRounds: 1 }),
  );

  expect(error).toMatchObject({ phase: "budget", dimension: "input" });
});

test("a model that calls tools for ever is stopped", async () => {
  const provider = scripted(Array.from({ length: 9 }, () => calls("noop", 1, 1)));
  const noop: Tool = { name: "noop", handler: () => "ok" };

  const error = await failureOf(evaluate(provider, { ...greeting, tools: [noop] }, { maxRounds: 3 }));

  expect(error).toMatchObject({
    phase: "request",
    budget: null,
    message: "prompt greeting had no final response after 3 requests; raise maxRounds to allow more",
  });
  expect(provider.requests).toHaveLength(3);
});
