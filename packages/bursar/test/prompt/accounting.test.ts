import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import { ProviderError, type ProviderResponse } from "../../src/prompt/provider.js";
import type { TokenUsage } from "../../src/prompt/tokens.js";
import type { TokenReport, Tool } from "../../src/prompt/tool.js";
import { calls, deferred, failureOf, overageOf, says, scripted, turn } from "./scripted.js";

const greeting = { name: "greeting", text: "Say hello." };
const noop: Tool = { name: "noop", handler: () => "ok" };
const limited = () => new Budget({ tokenLimit: { input: 1_000, output: 500 } });
const usedOf = (budget: Budget) => nodeOf(budget).usage();
const reporting = (...reports: readonly TokenReport[]): Tool => ({
  name: "report",
  handler(_input, { reportTokens }) {
    for (const report of reports) reportTokens(report);
  },
});
const silent = (text: string): ProviderResponse => ({ text });

scenario("003/token-accounting", "a provider's running totals", async () => {
  const budget = limited();
  const total = (input: number, output: number): ProviderResponse => ({
    ...calls("noop", 0, 0),
    usage: null,
    cumulativeUsage: { input, output },
  });
  const final: ProviderResponse = { text: "done", cumulativeUsage: { input: 600, output: 90 } };
  const provider = scripted([total(100, 20), total(300, 20), final]);

  const response = await evaluate(provider, { ...greeting, tools: [noop] }, { budget });

  expect(response).toMatchObject({ usage: { input: 600, output: 90 }, estimated: false });
  expect(usedOf(budget)).toEqual({ input: 600, output: 90 });
  expect(new Set(provider.requests.map(({ evaluation }) => evaluation)).size).toBe(1);
});

scenario("003/token-accounting", "what tools report", async () => {
  const budget = limited();
  const tool = reporting({ input: 100, output: 0 }, { input: 50, output: 7, estimated: true });

  const response = await evaluate(
    scripted([calls("report", 10, 5), says("done", 20, 5)]),
    { ...greeting, tools: [tool] },
    { budget },
  );

  expect(response.toolExecutions[0]).toMatchObject({ usage: { input: 150, output: 7 }, estimated: true });
  expect(response).toMatchObject({ usage: { input: 180, output: 17 }, estimated: true });
  expect(usedOf(budget)).toEqual({ input: 180, output: 17 });
});

scenario("003/token-accounting", "a tool that meets the limit", async () => {
  const budget = limited();
  const provider = scripted([calls("report", 10, 5), says("done", 20, 5)]);

  const error = await overageOf(
    evaluate(provider, { ...greeting, tools: [reporting({ input: 0, output: 495 })] }, { budget }),
  );

  expect(error).toMatchObject({ phase: "budget", dimension: "output" });
  expect(error.budget?.remainingTokens).toEqual({ input: 990, output: 0 });
  expect(provider.requests).toHaveLength(1);
});

scenario("003/token-accounting", "unbounded dimensions are ignored", async () => {
  const budget = new Budget({ tokenLimit: { input: 1_000, output: null } });
  const tool = reporting({ input: 0, output: 10 ** 9 });

  const response = await evaluate(
    scripted([calls("report", 10, 5), says("done", 20, 5)]),
    { ...greeting, tools: [tool] },
    { budget },
  );

  expect(response.usage).toEqual({ input: 30, output: 10 ** 9 + 10 });
});

describe("running totals", () => {
  const totals = (...readings: readonly TokenUsage[]) =>
    readings.map(
      (cumulativeUsage, index): ProviderResponse =>
        index === readings.length - 1
          ? { text: "done", cumulativeUsage }
          : { ...calls("noop", 0, 0), usage: null, cumulativeUsage },
    );

  test("that go back give nothing back: the reservation is charged", async () => {
    const budget = limited();
    const readings = totals({ input: 100, output: 50 }, { input: 90, output: 60 }, { input: 95, output: 65 });
    const provider = scripted(readings, { input: 200, output: 100 });

    const response = await evaluate(provider, { ...greeting, tools: [noop] }, { budget });

    expect(response).toMatchObject({ usage: { input: 305, output: 155 }, estimated: true });
  });

  test("begin anew with every evaluation and add up in the budget", async () => {
    const budget = limited();

    for (let times = 0; times < 3; times++) {
      await evaluate(scripted(totals({ input: 100, output: 50 })), greeting, { budget });
    }

    expect(usedOf(budget)).toEqual({ input: 300, output: 150 });
  });

  test("stand behind the usage of the request itself", async () => {
    const both = { ...says("done", 7, 3), cumulativeUsage: { input: 1_000, output: 1_000 } };

    expect(await evaluate(scripted([both]), greeting)).toMatchObject({ usage: { input: 7, output: 3 } });
  });
});

describe("a provider that reports no usage", () => {
  test("is charged its quote", async () => {
    const budget = limited();

    const response = await evaluate(scripted([silent("hello")], { input: 200, output: 100 }), greeting, { budget });

    expect(response).toMatchObject({ usage: { input: 200, output: 100 }, estimated: true });
    expect(usedOf(budget)).toEqual({ input: 200, output: 100 });
  });

  test("without a quote is charged the bytes of the request and all the output that remained", async () => {
    const budget = limited();
    const bytes = JSON.stringify({ messages: [{ role: "user", content: "Say hello." }], tools: [] }).length;

    const response = await evaluate(scripted([silent("hello")]), greeting, { budget });
    const next = await failureOf(evaluate(scripted([silent("hello")]), greeting, { budget }));

    expect(response).toMatchObject({ usage: { input: bytes, output: 500 }, estimated: true });
    expect(next).toMatchObject({ phase: "preflight", budget: { estimated: true } });
  });

  test("is charged the bytes that came, where output is unbounded", async () => {
    const budget = new Budget({ tokenLimit: { input: 1_000, output: null } });

    const response = await evaluate(scripted([silent("héllo")]), greeting, { budget });

    expect(response.usage.output).toBe(Buffer.byteLength(JSON.stringify({ text: "héllo" })));
    expect(response.estimated).toBe(true);
  });

  test("is charged no more input than remained, when nobody quoted it", async () => {
    const budget = new Budget({ tokenLimit: { input: 5, output: null } });

    expect(await evaluate(scripted([silent("hello")]), greeting, { budget })).toMatchObject({ usage: { input: 5 } });
  });
});

describe("a request that fails", () => {
  test("is charged at the reservation", async () => {
    const budget = limited();
    const failing = scripted([new Error("connection lost")], { input: 200, output: 100 });

    const error = await failureOf(evaluate(failing, greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", cause: new Error("connection lost") });
    expect(error.budget).toMatchObject({ usage: { input: 200, output: 100 }, estimated: true });
  });

  test("is charged what the provider says was used", async () => {
    const budget = limited();
    const failing = scripted([new ProviderError("filtered", { usage: { input: 60, output: 0 } })]);

    const error = await failureOf(evaluate(failing, greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", cause: { name: "ProviderError", message: "filtered" } });
    expect(error.budget).toMatchObject({ usage: { input: 60, output: 0 }, estimated: false });
  });

  test("is charged by its running totals too", async () => {
    const budget = limited();
    const cumulativeUsage = { input: 100, output: 30 };
    const failing = scripted([calls("noop", 0, 0), new ProviderError("filtered", { cumulativeUsage })]);

    await failureOf(evaluate(failing, { ...greeting, tools: [noop] }, { budget }));

    expect(usedOf(budget)).toEqual({ input: 100, output: 30 });
  });

  test("is charged at the reservation when its report cannot be read", async () => {
    const budget = limited();
    const failing = scripted([new ProviderError("odd", { usage: { input: -1, output: 0 } })], { input: 9, output: 9 });

    const error = await failureOf(evaluate(failing, greeting, { budget }));

    expect(error).toMatchObject({ phase: "request", cause: { message: "odd" } });
    expect(usedOf(budget)).toEqual({ input: 9, output: 9 });
  });
});

describe("a request that is abandoned", () => {
  const abandon = async (budget: Budget, late: () => Promise<ProviderResponse>) => {
    const controller = new AbortController();
    const provider = scripted([late], { input: 200, output: 100 });
    const evaluation = failureOf(evaluate(provider, greeting, { budget, signal: controller.signal }));
    await turn();
    controller.abort(new Error("changed my mind"));
    return evaluation;
  };

  test("is charged at the reservation, and put right by a late report", async () => {
    const budget = limited();
    const answer = deferred<ProviderResponse>();

    const error = await abandon(budget, () => answer.promise);
    const charged = usedOf(budget);
    answer.resolve(says("late", 30, 20));
    await turn();

    expect(error).toMatchObject({ phase: "request", cause: new Error("changed my mind") });
    expect(error.message).toBe("prompt greeting was aborted by its caller");
    expect(charged).toEqual({ input: 200, output: 100 });
    expect(usedOf(budget)).toEqual({ input: 30, output: 20 });
  });

  test("keeps its charge when the late report is missing, broken or an error", async () => {
    const endings: ((answer: ReturnType<typeof deferred<ProviderResponse>>) => void)[] = [
      (answer) => answer.resolve(silent("late")),
      (answer) => answer.resolve(says("late", Number.NaN, 1)),
      (answer) => answer.reject(new Error("late")),
    ];
    for (const end of endings) {
      const budget = limited();
      const answer = deferred<ProviderResponse>();
      await abandon(budget, () => answer.promise);

      end(answer);
      await turn();

      expect(usedOf(budget)).toEqual({ input: 200, output: 100 });
    }
  });

  test("is charged what a provider that ends at once says was used", async () => {
    const budget = limited();
    const provider = scripted([
      ({ signal }) =>
        new Promise((_, reject) => {
          const stopped = () => reject(new ProviderError("stopped", { usage: { input: 40, output: 2 } }));
          signal.addEventListener("abort", stopped);
        }),
    ]);
    const controller = new AbortController();
    const evaluation = failureOf(evaluate(provider, greeting, { budget, signal: controller.signal }));
    await turn();

    controller.abort();

    expect((await evaluation).budget).toMatchObject({ usage: { input: 40, output: 2 }, estimated: false });
  });
});

test("usage belongs to the budget object, not to the name of a prompt", async () => {
  const budget = limited();
  const adapterRuns = [says("a", 100, 10), says("b", 200, 20), says("c", 300, 30)];

  for (const reply of adapterRuns) await evaluate(scripted([reply]), greeting, { budget });
  await evaluate(scripted([says("d", 5, 5)]), greeting, { budget: limited() });

  expect(usedOf(budget)).toEqual({ input: 600, output: 60 });
});

test("a report beyond what can be counted ends the budget, not the process", async () => {
  const budget = limited();
  const most = 9_000_000_000_000_000;
  const provider = scripted([calls("report", most, most), says("done", 1, 1)]);
  const tool = reporting({ input: most, output: most });

  const error = await overageOf(evaluate(provider, { ...greeting, tools: [tool] }, { budget }));
  const unlimited = await evaluate(
    scripted([calls("report", most, most), says("done", most, most)]),
    { ...greeting, tools: [tool] },
    { budget: new Budget({}) },
  );

  expect(error).toMatchObject({ dimension: "input", phase: "budget" });
  expect(unlimited.text).toBe("done");
});
