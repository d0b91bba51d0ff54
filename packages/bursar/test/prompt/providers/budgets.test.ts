import { expect, test } from "vitest";
import { scenario } from "../../../../../specs/scenario.js";
import { Budget } from "../../../src/prompt/budget.js";
import type { CallRecord } from "../../../src/prompt/call-record.js";
import { Deadline } from "../../../src/prompt/deadline.js";
import type { Tool } from "../../../src/prompt/tool.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { until } from "../../testing/scripted/asking.js";
import { failureOf, overageOf } from "../scripted.js";
import { calls, RESPONSES, says, scene, used, WIRES } from "./wires.js";

const greeting = { name: "greeting", text: "Say hello." };
const limited = (input: number | null, output: number | null) => new Budget({ tokenLimit: { input, output } });

for (const wire of WIRES) {
  scenario("003/evaluate-budget", wire.name, async () => {
    await using at = await scene(wire, [says("Hello.", 40, 5), says("Hello.", 40, 5)]);
    const budget = limited(1_000, 300);

    const response = await at.adapter.evaluate(greeting, { budget });
    const free = await at.adapter.evaluate(greeting, { budget: null });

    expect(response).toMatchObject({ text: "Hello.", ending: "whole", estimated: false, budget });
    expect(response.usage).toEqual({ input: 40, output: 5 });
    expect(used(budget)).toEqual({ input: 40, output: 5 });
    expect(free).toMatchObject({ text: "Hello.", budget: null });
    expect(at.server.requests.map(({ path }) => path)).toEqual([wire.path, wire.path]);
    expect(at.bodies.map((body) => body[wire.limit])).toEqual([300, 4_096]);
  });

  scenario("003/rendered-prompt-budget", wire.name, async () => {
    await using at = await scene(wire, [says("Hello.", 40, 5)]);
    const budget = limited(1_000, 300);

    const response = await at.adapter.evaluate({ ...greeting, budget });

    expect(response.budget).toBe(budget);
    expect(used(budget)).toEqual({ input: 40, output: 5 });
  });

  scenario("003/preflight-validation", wire.name, async () => {
    const clock = new FakeClock();
    await using at = await scene(wire, [says("All.", 500, 100)], { clock, timer: clock });
    const spent = limited(500, 100);
    const late = new Budget({ deadline: new Deadline(clock.now().instant + 1_000) }, { clock });
    await at.adapter.evaluate(greeting, { budget: spent });
    clock.advance(1_000);

    const errors = [
      await failureOf(at.adapter.evaluate(greeting, { budget: spent })),
      await failureOf(at.adapter.evaluate(greeting, { budget: late })),
    ];

    expect(errors.map(({ phase }) => phase)).toEqual(["preflight", "preflight"]);
    expect(errors.map(({ name }) => name)).toEqual(["PromptEvaluationError", "PromptEvaluationError"]);
    expect(at.server.count).toBe(1);
  });

  scenario("003/provider-requests", `${wire.name}: input that does not fit is not sent`, async () => {
    await using at = await scene(wire, [says("Hello.", 40, 5)]);
    const budget = limited(120, 300);

    const error = await overageOf(at.adapter.evaluate(greeting, { budget }));

    expect(error).toMatchObject({ phase: "budget", dimension: "input", budget: { usage: { input: 0, output: 0 } } });
    expect(at.server.count).toBe(0);
  });

  scenario(
    "003/provider-requests",
    `${wire.name}: a loop of tools ends before the request that does not fit`,
    async () => {
      await using at = await scene(wire, () => calls("look", 900, 20));
      const budget = limited(4_000, 1_000);
      const look: Tool = { name: "look", handler: () => "x".repeat(400) };

      const error = await overageOf(at.adapter.evaluate({ ...greeting, tools: [look] }, { budget }));

      expect(error).toMatchObject({ phase: "budget", dimension: "input" });
      const { count } = at.server;
      expect(used(budget)).toEqual({ input: 900 * count, output: 20 * count });
      expect(used(budget).input).toBeLessThan(4_000);
    },
  );

  scenario("003/provider-requests", `${wire.name}: output is held to what remains`, async () => {
    await using at = await scene(wire, [says("A long story.", 40, 180), says("A long story.", 40, 180)]);
    const budget = limited(null, 200);

    await at.adapter.evaluate(greeting, { budget });
    const second = await at.adapter.evaluate(greeting, { budget }).catch((error: unknown) => error);

    expect(at.bodies[0]?.[wire.limit]).toBe(200);
    expect(at.bodies[1]?.[wire.limit]).toBe(20);
    expect(second).toMatchObject({ ending: "length", usage: { input: 40, output: 20 } });
    expect(used(budget).output).toBe(200);
  });

  scenario("003/adapter-tests", `${wire.name}: a deadline aborts a request in flight`, async () => {
    const clock = new FakeClock();
    await using at = await scene(wire, [{ kind: "hang" }], { clock, timer: clock });
    const budget = new Budget(
      { deadline: new Deadline(clock.now().instant + 5_000), tokenLimit: { input: 1_000, output: 300 } },
      { clock },
    );

    const evaluation = overageOf(at.adapter.evaluate(greeting, { budget }));
    await until(() => at.server.count === 1);
    clock.advance(5_000);
    const error = await evaluation;
    await until(() => at.server.aborted === 1);

    expect(error).toMatchObject({
      phase: "budget",
      dimension: "deadline",
      budget: { remainingTime: 0, estimated: true },
    });
    expect(used(budget).output).toBe(300);
    expect(at.server.count).toBe(1);
  });

  scenario("003/tool-context-budget", wire.name, async () => {
    await using at = await scene(wire, [calls("look", 400, 20), says("Done.", 500, 10)]);
    const budget = limited(10_000, 1_000);
    const seen: unknown[] = [];
    const look: Tool = {
      name: "look",
      inputSchema: { type: "object", properties: { about: { type: "string" } } },
      handler(input, context) {
        seen.push(input, context.budget, context.usage(), context.remainingTokens());
        context.reportTokens({ input: 70, output: 7, estimated: true });
        return { found: 3 };
      },
    };

    const response = await at.adapter.evaluate({ ...greeting, tools: [look] }, { budget });

    expect(seen).toEqual([{ about: "look" }, budget, { input: 400, output: 20 }, { input: 9_600, output: 980 }]);
    expect(response.toolExecutions).toMatchObject([
      { tool: "look", output: { found: 3 }, usage: { input: 70, output: 7 } },
    ]);
    expect(at.server.requests[1]?.text).toBe('{"found":3}');
    expect(response.text).toBe("Done.");
  });

  scenario("003/token-accounting", `${wire.name}: requests and tools add up`, async () => {
    await using at = await scene(wire, [calls("look", 400, 20), calls("look", 600, 30), says("Done.", 800, 10)]);
    const budget = limited(20_000, 1_000);
    const look: Tool = { name: "look", handler: (_input, { reportTokens }) => reportTokens({ input: 5, output: 1 }) };

    const response = await at.adapter.evaluate({ ...greeting, tools: [look] }, { budget });

    expect(response.usage).toEqual({ input: 1_810, output: 62 });
    expect(used(budget)).toEqual({ input: 1_810, output: 62 });
    expect(response.estimated).toBe(false);
  });

  scenario("003/token-accounting", `${wire.name}: a tool that meets the limit ends the loop`, async () => {
    await using at = await scene(wire, [calls("look", 400, 20), says("never", 1, 1)]);
    const budget = limited(10_000, 500);
    const look: Tool = { name: "look", handler: (_input, { reportTokens }) => reportTokens({ input: 0, output: 480 }) };

    const error = await overageOf(at.adapter.evaluate({ ...greeting, tools: [look] }, { budget }));

    expect(error).toMatchObject({ phase: "budget", dimension: "output" });
    expect(at.server.count).toBe(1);
  });

  scenario("003/token-accounting", `${wire.name}: cached tokens are input, and thinking is output`, async () => {
    const usage = { prompt_tokens: 700, completion_tokens: 90, cached_tokens: 500, cache_write_tokens: 100 };
    await using at = await scene(wire, [{ kind: "text", text: "Hello.", usage: { ...usage, reasoning_tokens: 60 } }]);
    const budget = limited(1_000, 300);

    const { usage: told } = await at.adapter.evaluate(greeting, { budget });

    expect(told).toEqual({ input: 700, output: 90 });
  });

  scenario("003/token-accounting", `${wire.name}: an answer without usage is charged its reservation`, async () => {
    await using at = await scene(wire, [{ kind: "text", text: "Hello.", usage: null }]);
    const budget = limited(1_000, 300);

    const response = await at.adapter.evaluate(greeting, { budget });

    expect(response).toMatchObject({ text: "Hello.", estimated: true });
    expect(used(budget).output).toBe(300);
    expect(used(budget).input).toBeGreaterThan(100);
  });

  scenario("003/finalization", wire.name, async () => {
    const usage = { prompt_tokens: 1_001, completion_tokens: 5 };
    await using at = await scene(wire, [{ kind: "text", text: "Hello.", usage }]);
    const budget = limited(1_000, 300);

    const error = await overageOf(at.adapter.evaluate(greeting, { budget }));

    expect(error).toMatchObject({ phase: "response", dimension: "input", budget: { remainingTokens: { input: -1 } } });
  });

  scenario("003/remaining-metrics", wire.name, async () => {
    const clock = new FakeClock();
    const records: CallRecord[] = [];
    await using at = await scene(wire, [calls("wait", 400, 20), says("Done.", 500, 10)], {
      clock,
      timer: clock,
      onCall: (record) => records.push(record),
    });
    const budget = new Budget(
      { deadline: new Deadline(clock.now().instant + 10_000), tokenLimit: { input: 10_000, output: 1_000 } },
      { clock },
    );
    const wait: Tool = { name: "wait", handler: () => clock.advance(1_500) };

    await at.adapter.evaluate({ ...greeting, tools: [wait] }, { budget });

    const after = { input: 9_600, output: 980 };
    expect(records).toEqual([
      remaining("request", 10_000, { input: 10_000, output: 1_000 }),
      { ...remaining("tool", 10_000, after), tool: "wait" },
      remaining("request", 8_500, after),
    ]);
  });

  scenario("003/error-budget-payload", wire.name, async () => {
    await using at = await scene(wire, [{ kind: "status", status: 400, message: "no such thing" }]);
    const budget = limited(1_000, 300);

    const error = await failureOf(at.adapter.evaluate(greeting, { budget }));

    expect(JSON.parse(JSON.stringify(error.budget))).toEqual({
      deadline: null,
      tokenLimit: { input: 1_000, output: 300 },
      usage: { input: 0, output: 0 },
      estimated: false,
      remainingTime: null,
      remainingTokens: { input: 1_000, output: 300 },
    });
  });

  test(`${wire.name}: a tool call that was cut off is not made`, async () => {
    const ran: unknown[] = [];
    const tools: readonly Tool[] = [{ name: "pay", handler: (input) => ran.push(input) }];
    const call = { name: "pay", arguments: { to: "somebody with a long name", amount_usd: 1_000_000 } };
    const script = [
      { kind: "text", text: "", tool_calls: [call], usage: { prompt_tokens: 40, completion_tokens: 99 } },
    ] as const;
    await using tight = await scene(wire, script);
    await using small = await scene(wire, script, { maxOutputTokens: 16 });

    const exceeded = await overageOf(tight.adapter.evaluate({ ...greeting, tools }, { budget: limited(null, 16) }));
    const failed = await failureOf(small.adapter.evaluate({ ...greeting, tools }, { budget: limited(null, 500) }));

    expect(exceeded).toMatchObject({ phase: "budget", dimension: "output" });
    expect(failed).toMatchObject({ phase: "request", message: expect.stringContaining("maxOutputTokens") });
    expect(ran).toEqual([]);
  });
}

function remaining(phase: CallRecord["phase"], time: number, tokens: { input: number; output: number }): CallRecord {
  return { phase, prompt: "greeting", budget_remaining_time: time, budget_remaining_tokens: tokens };
}

scenario("003/provider-requests", "less output than the provider can be held to is not asked for", async () => {
  await using at = await scene(RESPONSES, [says("Hello.", 40, 5)]);

  const error = await overageOf(at.adapter.evaluate(greeting, { budget: limited(null, 15) }));
  const response = await at.adapter.evaluate(greeting, { budget: limited(null, 16) });

  expect(error).toMatchObject({ phase: "budget", dimension: "output", message: expect.stringContaining("16 more") });
  expect(response.text).toBe("Hello.");
  expect(at.bodies.map(({ max_output_tokens }) => max_output_tokens)).toEqual([16]);
});
