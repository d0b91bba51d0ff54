import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { createAdapter } from "../../src/prompt/adapter.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import type { CallRecord } from "../../src/prompt/call-record.js";
import { Deadline } from "../../src/prompt/deadline.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import type { Tool } from "../../src/prompt/tool.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { calls, failureOf, overageOf, says, scripted } from "./scripted.js";

const greeting = { name: "greeting", text: "Say hello." };

scenario("003/remaining-metrics", async () => {
  const clock = new FakeClock({ instant: 0 });
  const budget = new Budget({ deadline: new Deadline(10_000), tokenLimit: { input: 100, output: null } }, { clock });
  const records: CallRecord[] = [];
  const tool: Tool = { name: "wait", handler: () => clock.advance(1_500) };
  const adapter = createAdapter(scripted([calls("wait", 30, 10), says("done", 40, 10)]), {
    timer: clock,
    onCall: (record) => records.push(record),
  });

  await adapter.evaluate({ ...greeting, tools: [tool] }, { budget });

  expect(records).toEqual([
    {
      phase: "request",
      prompt: "greeting",
      budget_remaining_time: 10_000,
      budget_remaining_tokens: { input: 100, output: null },
    },
    {
      phase: "tool",
      prompt: "greeting",
      tool: "wait",
      budget_remaining_time: 10_000,
      budget_remaining_tokens: { input: 70, output: null },
    },
    {
      phase: "request",
      prompt: "greeting",
      budget_remaining_time: 8_500,
      budget_remaining_tokens: { input: 70, output: null },
    },
  ]);
});

scenario("003/remaining-metrics", "without a budget there is nothing to remain", async () => {
  const records: CallRecord[] = [];

  await evaluate(scripted([says("done", 1, 1)]), greeting, { onCall: (record) => records.push(record) });

  expect(records).toEqual([
    { phase: "request", prompt: "greeting", budget_remaining_time: null, budget_remaining_tokens: null },
  ]);
});

scenario("003/error-budget-payload", async () => {
  const clock = new FakeClock({ instant: 0 });
  const budget = new Budget({ deadline: new Deadline(10_000), tokenLimit: { input: 100, output: 50 } }, { clock });
  const slow: Tool = { name: "slow", handler: () => clock.advance(4_000) };
  const provider = scripted([calls("slow", 60, 20), says("too much", 60, 20)]);

  const error = await overageOf(evaluate(provider, { ...greeting, tools: [slow] }, { budget, timer: clock }));

  expect(JSON.parse(JSON.stringify(error.budget))).toEqual({
    deadline: "1970-01-01T00:00:10.000Z",
    tokenLimit: { input: 100, output: 50 },
    usage: { input: 120, output: 40 },
    estimated: false,
    remainingTime: 6_000,
    remainingTokens: { input: -20, output: 10 },
  });
});

scenario("003/error-budget-payload", "in every phase", async () => {
  const budget = () => new Budget({ tokenLimit: { input: 100, output: 50 } });
  const tools: readonly Tool[] = [{ name: "broken", handler: () => Promise.reject(new Error("broken")) }];
  const exhausted = budget();
  await evaluate(scripted([says("all", 100, 50)]), greeting, { budget: exhausted });

  const errors = await Promise.all([
    failureOf(evaluate(scripted([]), greeting, { budget: exhausted })),
    failureOf(evaluate(scripted([new Error("down")]), greeting, { budget: budget() })),
    failureOf(evaluate(scripted([calls("broken", 1, 1)]), { ...greeting, tools }, { budget: budget() })),
    failureOf(evaluate(scripted([calls("broken", 100, 1)]), { ...greeting, tools }, { budget: budget() })),
    failureOf(evaluate(scripted([says("too much", 101, 1)]), greeting, { budget: budget() })),
  ]);

  expect(errors.map(({ phase }) => phase)).toEqual(["preflight", "request", "tool", "budget", "response"]);
  for (const error of errors) expect(error.budget?.tokenLimit).toEqual({ input: 100, output: 50 });
});

test("a hook that throws ends the evaluation, and the call it was told of is not made", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const ran: string[] = [];
  const tool: Tool = { name: "effect", handler: () => ran.push("effect") };
  const refuse = (phase: CallRecord["phase"]) => (record: CallRecord) => {
    if (record.phase === phase) throw new Error("disk full");
  };
  const provider = scripted([calls("effect", 10, 5)]);
  const prompt = { ...greeting, tools: [tool] };

  const request = await failureOf(evaluate(scripted([says("x", 1, 1)]), prompt, { budget, onCall: refuse("request") }));
  const unspent = nodeOf(budget).usage();
  const toolCall = await failureOf(evaluate(provider, prompt, { budget, onCall: refuse("tool") }));

  expect(request).toMatchObject({ phase: "request", cause: new Error("disk full") });
  expect(unspent).toEqual({ input: 0, output: 0 });
  expect(toolCall).toMatchObject({ phase: "tool", cause: new Error("disk full") });
  expect(ran).toEqual([]);
});

test("a call that a hook prevents lets the next one go", async () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const adapter = createAdapter(scripted([says("hello", 1, 1)]), {
    onCall({ prompt }) {
      if (prompt === "first") throw new Error("disk full");
    },
  });

  const first = failureOf(adapter.evaluate({ name: "first", text: "?" }, { budget }));
  const second = adapter.evaluate({ name: "second", text: "?" }, { budget });

  expect((await first).cause).toEqual(new Error("disk full"));
  expect((await second).text).toBe("hello");
});
