import { describe, expect, test } from "vitest";
import { scenario } from "../../../../../specs/scenario.js";
import { Budget } from "../../../src/prompt/budget.js";
import { Deadline } from "../../../src/prompt/deadline.js";
import { BudgetExceededError } from "../../../src/prompt/errors.js";
import type { Tool } from "../../../src/prompt/tool.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import type { ScriptedRequest } from "../../../src/testing/scripted/request.js";
import { until } from "../../testing/scripted/asking.js";
import { overageOf } from "../scripted.js";
import { CHAT, calls, MESSAGES, RESPONSES, says, scene, used, WIRES } from "./wires.js";

const limited = (input: number, output: number) => new Budget({ tokenLimit: { input, output } });
const parent = (handler: Tool["handler"]) => ({
  name: "parent",
  text: "Find out.",
  tools: [{ name: "delegate", handler }],
});
const child = (number: number) => ({ name: `child ${number}`, text: `Look into matter ${number}.` });

for (const wire of WIRES) {
  scenario("003/subagent-tests", `${wire.name}: children use up the budget of their parent`, async () => {
    await using at = await scene(wire, [calls("delegate", 300, 20), says("found", 500, 40), says("done", 400, 10)]);
    const budget = limited(20_000, 5_000);
    const seen: unknown[] = [];

    const response = await at.adapter.evaluate(
      parent(async (_input, context) => {
        const answer = await context.delegate({ ...child(1), budget: limited(1, 1) });
        seen.push(answer.budget === budget, context.remainingTokens());
        return answer.text;
      }),
      { budget },
    );

    expect(seen).toEqual([true, { input: 19_200, output: 4_940 }]);
    expect(response.usage).toEqual({ input: 1_200, output: 70 });
    expect(used(budget)).toEqual({ input: 1_200, output: 70 });
    expect(at.server.requests[2]?.text).toBe("found");
  });

  scenario("003/subagents", `${wire.name}: a child that goes over the limit halts everything`, async () => {
    await using at = await scene(wire, [calls("delegate", 300, 20), says("much", 30_000, 40), says("never", 1, 1)]);
    const budget = limited(20_000, 5_000);
    const swallowed: unknown[] = [];

    const error = await overageOf(
      at.adapter.evaluate(
        parent(async (_input, { delegate }) => {
          await delegate(child(1)).catch((reason: unknown) => swallowed.push(reason));
          return "all is well";
        }),
        { budget },
      ),
    );

    expect(swallowed).toMatchObject([{ phase: "response", dimension: "input", promptName: "child 1" }]);
    expect(error).toMatchObject({ phase: "budget", dimension: "input", promptName: "parent" });
    expect(at.server.count).toBe(2);
  });

  scenario(
    "003/subagents",
    `${wire.name}: a request that does not fit is refused to the child, and not sent`,
    async () => {
      await using at = await scene(wire, [calls("delegate", 300, 20), says("never", 1, 1)]);
      const budget = limited(5_000, 5_000);

      const error = await overageOf(
        at.adapter.evaluate(
          parent((_input, { delegate }) => delegate({ name: "child", text: "x".repeat(5_000) })),
          { budget },
        ),
      );

      expect(error).toMatchObject({ phase: "budget", dimension: "input", promptName: "child" });
      expect(at.server.count).toBe(1);
      expect(used(budget)).toEqual({ input: 300, output: 20 });
    },
  );

  scenario("003/subagents", `${wire.name}: a deadline ends parent and children at once`, async () => {
    const clock = new FakeClock();
    const script = ({ number }: ScriptedRequest) =>
      number === 1 ? calls("delegate", 300, 20) : ({ kind: "hang" } as const);
    await using at = await scene(wire, script, { clock, timer: clock, maxOutputTokens: 100 });
    const budget = new Budget(
      { deadline: new Deadline(clock.now().instant + 5_000), tokenLimit: { input: 20_000, output: 5_000 } },
      { clock },
    );

    const evaluation = overageOf(
      at.adapter.evaluate(
        parent((_input, { delegate }) => Promise.all([1, 2, 3].map((number) => delegate(child(number))))),
        { budget },
      ),
    );
    await until(() => at.server.count === 4);
    clock.advance(5_000);
    const error = await evaluation;
    await until(() => at.server.aborted === 3);

    expect(error).toMatchObject({ phase: "budget", dimension: "deadline" });
    expect(used(budget).output).toBe(320);
  });
}

describe.each(WIRES)("$name", (wire) => {
  test("children in parallel, two levels deep, never send more than the budget allows", async () => {
    const output = 16;
    let asked = 0;
    const script = ({ text, max_tokens }: ScriptedRequest) => {
      asked += max_tokens ?? 0;
      return text.startsWith("Look") ? says("found", 10, output) : calls("delegate", 10, output);
    };
    await using at = await scene(wire, script, { maxOutputTokens: output });
    const budget = limited(1_000_000, 20 * output);
    const inner = parent((_input, { delegate }) => Promise.all([1, 2, 3, 4].map((number) => delegate(child(number)))));
    const outer = parent((_input, { delegate }) => Promise.all([1, 2, 3, 4].map(() => delegate(inner))));

    const error = await overageOf(at.adapter.evaluate(outer, { budget }));
    await until(() => used(budget).output === at.server.count * output);

    // 1 + 4 + 16 requests were wanted, and 20 fit.
    expect(error).toMatchObject({ phase: "budget", dimension: "output" });
    expect(at.server.count).toBe(20);
    expect(asked).toBe(20 * output);
  });
});

scenario("003/subagents", "over three wires at once", async () => {
  await using chat = await scene(CHAT, [calls("delegate", 300, 20), says("done", 400, 10)]);
  await using responses = await scene(RESPONSES, [says("one", 500, 30)]);
  await using messages = await scene(MESSAGES, [says("two", 600, 40)]);
  const budget = limited(20_000, 10_000);

  const response = await chat.adapter.evaluate(
    parent(async (_input, context) => {
      const others = [responses, messages].map(({ adapter }, index) =>
        adapter.evaluate(child(index), { budget: context.budget, signal: context.signal }),
      );
      return (await Promise.all(others)).map(({ text }) => text);
    }),
    { budget },
  );

  expect(response.text).toBe("done");
  expect(chat.server.requests[1]?.text).toBe('["one","two"]');
  expect(used(budget)).toEqual({ input: 1_800, output: 100 });
  await expect(messages.adapter.evaluate({ ...child(3), text: "x".repeat(20_000) }, { budget })).rejects.toThrow(
    BudgetExceededError,
  );
  expect(messages.server.count).toBe(1);
});
