import { describe, expect, test, vi } from "vitest";
import { createAdapter } from "../../src/prompt/adapter.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import { Deadline } from "../../src/prompt/deadline.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import type { ProviderRequest, ProviderResponse } from "../../src/prompt/provider.js";
import type { Tool } from "../../src/prompt/tool.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { calls, deferred, failureOf, overageOf, says, scripted, turn } from "./scripted.js";

const greeting = { name: "greeting", text: "Say hello." };
const hang = (): Promise<ProviderResponse> => new Promise(() => {});

function timed(ms: number) {
  const clock = new FakeClock();
  const deadline = new Deadline(clock.now().instant + ms);
  return { clock, budget: new Budget({ deadline, tokenLimit: { input: 1_000, output: 500 } }, { clock }) };
}

describe("when the deadline passes", () => {
  test("a request is aborted at that moment and charged at its reservation", async () => {
    const { clock, budget } = timed(2_500);
    const provider = scripted([hang], { input: 200, output: 100 });
    const evaluation = overageOf(evaluate(provider, greeting, { budget, timer: clock }));
    await turn();

    clock.advance(2_499);
    const before = provider.requests[0]?.signal.aborted;
    clock.advance(1);

    const error = await evaluation;
    expect(before).toBe(false);
    expect(provider.requests[0]?.signal.aborted).toBe(true);
    expect(provider.requests[0]?.signal.reason).toMatchObject({ name: "TimeoutError" });
    expect(error).toMatchObject({ phase: "budget", dimension: "deadline", promptName: "greeting" });
    expect(error.budget).toMatchObject({ usage: { input: 200, output: 100 }, estimated: true, remainingTime: 0 });
  });

  test("a provider that fails by the signal fails by the deadline", async () => {
    const { clock, budget } = timed(1_000);
    const obedient = ({ signal }: ProviderRequest) =>
      new Promise<ProviderResponse>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const evaluation = overageOf(evaluate(scripted([obedient]), greeting, { budget, timer: clock }));
    await turn();

    clock.advance(1_000);

    expect(await evaluation).toMatchObject({ dimension: "deadline", cause: { name: "TimeoutError" } });
  });

  test("a tool is aborted too, and its late reports still count", async () => {
    const { clock, budget } = timed(1_000);
    const slow = deferred<void>();
    const signals: AbortSignal[] = [];
    const tool: Tool = {
      name: "slow",
      async handler(_input, { signal, reportTokens }) {
        signals.push(signal);
        await slow.promise;
        reportTokens({ input: 50, output: 0 });
      },
    };
    const provider = scripted([calls("slow", 10, 10), says("never", 1, 1)]);
    const evaluation = overageOf(evaluate(provider, { ...greeting, tools: [tool] }, { budget, timer: clock }));
    await turn();

    clock.advance(1_000);
    const error = await evaluation;
    slow.resolve();
    await turn();

    expect(error).toMatchObject({ phase: "budget", dimension: "deadline" });
    expect(signals[0]?.aborted).toBe(true);
    expect(nodeOf(budget).usage()).toEqual({ input: 60, output: 10 });
    expect(provider.requests).toHaveLength(1);
  });

  test("those who wait for tokens in flight wait no longer", async () => {
    const { clock, budget } = timed(1_000);
    const provider = scripted([hang]);
    const adapter = createAdapter(provider, { timer: clock });
    const evaluations = ["first", "second"].map((name) =>
      overageOf(adapter.evaluate({ ...greeting, name }, { budget })),
    );
    await turn();

    clock.advance(1_000);

    expect(await Promise.all(evaluations)).toMatchObject([{ dimension: "deadline" }, { dimension: "deadline" }]);
    expect(provider.requests).toHaveLength(1);
  });

  test("a quote that hangs is abandoned", async () => {
    const { clock, budget } = timed(1_000);
    const provider = scripted([says("never", 1, 1)], () => new Promise(() => {}));
    const evaluation = overageOf(evaluate(provider, greeting, { budget, timer: clock }));
    await turn();

    clock.advance(1_000);

    expect(await evaluation).toMatchObject({ dimension: "deadline", budget: { usage: { input: 0, output: 0 } } });
    expect(provider.requests).toEqual([]);
  });

  test("during a quote, before any timer has noticed, the request is not made", async () => {
    const { clock, budget } = timed(1_000);
    const provider = scripted([says("never", 1, 1)], () => {
      clock.jump(1_000);
      return { input: 1, output: 1 };
    });

    const error = await overageOf(evaluate(provider, greeting, { budget, timer: clock }));

    expect(error).toMatchObject({ phase: "budget", dimension: "deadline" });
    expect(provider.requests).toEqual([]);
  });

  test("the machine's own timers do it", async () => {
    vi.useFakeTimers({ toFake: ["Date", "clearTimeout", "performance", "setTimeout"] });
    try {
      const budget = new Budget({ deadline: new Deadline(Date.now() + 500) });
      const error = overageOf(evaluate(scripted([hang]), greeting, { budget }));
      await vi.advanceTimersByTimeAsync(500);

      expect(await error).toMatchObject({ phase: "budget", dimension: "deadline" });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a wall clock that is set", () => {
  test("forward is noticed within a second", async () => {
    const { clock, budget } = timed(3_600_000);
    const evaluation = overageOf(evaluate(scripted([hang]), greeting, { budget, timer: clock }));
    await turn();

    clock.jump(7_200_000);
    clock.advance(1_000);

    expect(await evaluation).toMatchObject({ dimension: "deadline" });
  });

  test("back gives a request more time", async () => {
    const { clock, budget } = timed(1_000);
    const answer = deferred<ProviderResponse>();
    const evaluation = evaluate(scripted([() => answer.promise]), greeting, { budget, timer: clock });
    await turn();

    clock.jump(-500);
    clock.advance(1_400);
    answer.resolve(says("in time", 1, 1));

    expect((await evaluation).text).toBe("in time");
  });

  test("back does not bring an expired budget to life", async () => {
    const { clock, budget } = timed(1_000);
    const tool: Tool = {
      name: "late",
      handler: (_input, { delegate }) => delegate(greeting).catch(() => clock.jump(-60_000)),
    };
    const provider = scripted([
      () => {
        clock.jump(999);
        return calls("late", 1, 1);
      },
      () => {
        clock.jump(2);
        return says("too late", 1, 1);
      },
    ]);

    const error = await overageOf(evaluate(provider, { ...greeting, tools: [tool] }, { budget, timer: clock }));

    expect(error).toMatchObject({ phase: "budget", dimension: "deadline" });
    expect(provider.requests).toHaveLength(2);
  });
});

test("no alarm outlives its evaluation", async () => {
  const { clock, budget } = timed(1_000);
  const alarms = new Set<object>();
  const timer = {
    after(ms: number, run: () => void) {
      const alarm = clock.after(ms, run);
      alarms.add(alarm);
      const dispose = () => {
        alarms.delete(alarm);
        alarm[Symbol.dispose]();
      };
      return { [Symbol.dispose]: dispose };
    },
  };

  await evaluate(scripted([says("hello", 1, 1)]), greeting, { budget, timer });
  await failureOf(evaluate(scripted([new Error("failed")]), greeting, { budget, timer }));

  expect(alarms.size).toBe(0);
});

test("a caller's signal that has fired already stops everything", async () => {
  const quoted: string[] = [];
  const provider = scripted([says("never", 1, 1)], ({ promptName }) => {
    quoted.push(promptName);
    return { input: 1, output: 1 };
  });

  const error = await failureOf(evaluate(provider, greeting, { signal: AbortSignal.abort("no") }));

  expect(error).toMatchObject({ phase: "request", cause: "no" });
  expect(quoted).toEqual([]);
  expect(provider.requests).toEqual([]);
});

test("a caller who gives up ends the tool that runs, and no further one starts", async () => {
  const controller = new AbortController();
  const started: string[] = [];
  const tool = (name: string, handler: Tool["handler"]): Tool => ({
    name,
    handler: (input, context) => {
      started.push(name);
      return handler(input, context);
    },
  });
  const run = (...tools: readonly Tool[]) =>
    failureOf(evaluate(scripted([calls(["one", "two"], 1, 1)]), { ...greeting, tools }, { signal: controller.signal }));
  const two = tool("two", () => "ok");

  const swallowed = await run(
    tool("one", () => controller.abort("no")),
    two,
  );

  expect(swallowed).toMatchObject({ phase: "tool", cause: "no" });
  expect(started).toEqual(["one"]);
});

test("a tool that fails by the caller's signal is aborted, not broken", async () => {
  const controller = new AbortController();
  const tool: Tool = {
    name: "slow",
    handler: (_input, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
  };
  const evaluation = failureOf(
    evaluate(scripted([calls("slow", 1, 1)]), { ...greeting, tools: [tool] }, { signal: controller.signal }),
  );
  await turn();

  controller.abort("no");

  expect(await evaluation).toMatchObject({
    phase: "tool",
    message: "prompt greeting was aborted by its caller",
    cause: new Error("stopped"),
  });
});

test("a caller who gives up is told so, also when the abandoned request used up the budget", async () => {
  const budget = new Budget({ tokenLimit: { output: 50 } });
  const controller = new AbortController();
  const evaluation = failureOf(evaluate(scripted([hang]), greeting, { budget, signal: controller.signal }));
  await turn();

  controller.abort("no");

  const error = await evaluation;
  expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request", cause: "no" });
  expect(error.budget?.remainingTokens).toEqual({ input: null, output: 0 });
});

test("a request is not made when the caller gives up at the moment its turn comes", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const holding = deferred<ProviderResponse>();
  let answered = false;
  // The clock is read right after the tokens are given on, and before anybody can use them.
  const reading = {
    now() {
      if (answered && nodeOf(budget).usage().output > 0) controller.abort("no");
      return clock.now();
    },
  };
  const budget = new Budget({ tokenLimit: { output: 50 } }, { clock: reading });
  const provider = scripted([() => holding.promise, says("never", 1, 1)]);
  const adapter = createAdapter(provider);
  const first = adapter.evaluate(greeting, { budget });
  const second = failureOf(adapter.evaluate(greeting, { budget, signal: controller.signal }));
  await turn();

  answered = true;
  holding.resolve(says("hello", 1, 20));

  expect((await first).text).toBe("hello");
  expect(await second).toMatchObject({ phase: "request", cause: "no" });
  expect(provider.requests).toHaveLength(1);
  expect(nodeOf(budget).usage()).toEqual({ input: 1, output: 20 });
});
