import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { createAdapter } from "../../src/prompt/adapter.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import { Deadline } from "../../src/prompt/deadline.js";
import { BudgetExceededError } from "../../src/prompt/errors.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import type { Provider, ProviderRequest, ProviderResponse } from "../../src/prompt/provider.js";
import type { Tool, ToolContext } from "../../src/prompt/tool.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { calls, deferred, failureOf, overageOf, says, scripted, turn } from "./scripted.js";

const child = { name: "child", text: "Look into it." };
const parent = (handler: Tool["handler"]) => ({
  name: "parent",
  text: "Find out.",
  tools: [{ name: "delegate", handler }],
});
const limited = (input = 1_000, output = 500) => new Budget({ tokenLimit: { input, output } });

/** A provider that answers each prompt by its name. */
function byPrompt(replies: Record<string, readonly (ProviderResponse | Promise<ProviderResponse>)[]>) {
  const requests: ProviderRequest[] = [];
  const provider: Provider = {
    async complete(request) {
      const before = requests.filter(({ promptName }) => promptName === request.promptName).length;
      requests.push(request);
      const reply = replies[request.promptName]?.[before];
      if (reply === undefined) throw new Error(`no reply ${before} for ${request.promptName}`);
      return reply;
    },
    quote: () => ({ input: 10, output: 10 }),
  };
  return { provider, requests };
}

scenario("003/subagents", "share the budget object", async () => {
  const budget = limited();
  const seen: unknown[] = [];
  const provider = scripted([calls("delegate", 100, 10), says("found", 300, 40), says("done", 200, 10)]);

  const response = await evaluate(
    provider,
    parent(async (_input, context) => {
      const answer = await context.delegate({ ...child, budget: limited(1, 1) });
      seen.push(answer.budget, answer.usage, context.remainingTokens());
      return answer.text;
    }),
    { budget },
  );

  expect(seen).toEqual([budget, { input: 300, output: 40 }, { input: 600, output: 450 }]);
  expect(response.usage).toEqual({ input: 600, output: 60 });
  expect(response.toolExecutions[0]).toMatchObject({ output: "found", usage: { input: 300, output: 40 } });
  expect(provider.requests.map(({ promptName }) => promptName)).toEqual(["parent", "child", "parent"]);
});

scenario("003/subagents", "overages propagate", async () => {
  const budget = limited();
  const provider = scripted([calls("delegate", 100, 10), says("too much", 950, 40), says("never", 1, 1)]);

  const error = await overageOf(
    evaluate(
      provider,
      parent((_input, { delegate }) => delegate(child)),
      { budget },
    ),
  );

  expect(error).toMatchObject({ phase: "response", dimension: "input", promptName: "child" });
  expect(error.budget?.usage).toEqual({ input: 1_050, output: 50 });
  expect(provider.requests).toHaveLength(2);
});

scenario("003/subagents", "a request refused to the child propagates as it is", async () => {
  const budget = limited();
  const provider = scripted([calls("delegate", 100, 10), says("never", 1, 1)], ({ promptName }) => ({
    input: promptName === "child" ? 950 : 10,
    output: 10,
  }));

  const error = await overageOf(
    evaluate(
      provider,
      parent((_input, { delegate }) => delegate(child)),
      { budget },
    ),
  );

  expect(error).toMatchObject({ phase: "budget", dimension: "input", promptName: "child" });
  expect(provider.requests).toHaveLength(1);
});

scenario("003/subagents", "an error that a handler swallows halts the evaluation all the same", async () => {
  const budget = limited();
  const provider = scripted([calls("delegate", 100, 10), says("too much", 950, 40), says("never", 1, 1)]);
  const swallowed: unknown[] = [];
  const swallow = async (_input: unknown, { delegate }: ToolContext) => {
    for (let tries = 0; tries < 3; tries++) await delegate(child).catch((error: unknown) => swallowed.push(error));
    return "all is well";
  };

  const error = await overageOf(evaluate(provider, parent(swallow), { budget }));

  expect(error).toMatchObject({ phase: "budget", dimension: "input", promptName: "parent" });
  expect(swallowed).toMatchObject([{ phase: "response" }, { phase: "preflight" }, { phase: "preflight" }]);
  expect(provider.requests).toHaveLength(2);
});

scenario("003/subagents", "a request refused to the child halts the parent, although tokens remain", async () => {
  const budget = limited();
  const { provider } = byPrompt({ parent: [calls("delegate", 100, 10), says("never", 1, 1)] });
  const quoting: Provider = {
    ...provider,
    quote: ({ promptName }) => ({ input: promptName === "child" ? 950 : 10, output: 10 }),
  };

  const error = await overageOf(
    evaluate(
      quoting,
      parent((_input, { delegate }) => delegate(child).catch(() => "all is well")),
      { budget },
    ),
  );

  expect(error).toMatchObject({ phase: "budget", dimension: "input", promptName: "parent" });
  expect(error.budget?.remainingTokens).toEqual({ input: 900, output: 490 });
});

scenario("003/subagents", "expire together", async () => {
  const clock = new FakeClock();
  const budget = new Budget({ deadline: new Deadline(clock.now().instant + 5_000) }, { clock });
  const never = deferred<ProviderResponse>();
  const { provider, requests } = byPrompt({ parent: [calls("delegate", 1, 1)], child: [never.promise] });
  const evaluation = overageOf(
    evaluate(
      provider,
      parent((_input, { delegate }) => delegate(child).catch(() => "all is well")),
      { budget, timer: clock },
    ),
  );
  await turn();

  clock.advance(5_000);

  expect(await evaluation).toMatchObject({ phase: "budget", dimension: "deadline" });
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, true]);
});

scenario("003/subagent-tests", "through another adapter", async () => {
  const budget = limited();
  const other = createAdapter(scripted([says("found", 600, 10)]));
  const provider = scripted([calls("delegate", 400, 10), says("never", 1, 1)]);

  const error = await overageOf(
    evaluate(
      provider,
      parent(async (_input, context) => (await other.evaluate(child, { budget: context.budget })).text),
      { budget },
    ),
  );

  expect(error).toMatchObject({ phase: "budget", dimension: "input", promptName: "parent" });
  expect(error.budget?.usage).toEqual({ input: 1_000, output: 20 });
});

describe("errors of a subagent", () => {
  test("that are no matter of budget are the tool's failure", async () => {
    const provider = scripted([calls("delegate", 1, 1), new Error("connection lost")], { input: 10, output: 10 });

    const error = await failureOf(
      evaluate(
        provider,
        parent((_input, { delegate }) => delegate(child)),
        { budget: limited() },
      ),
    );

    expect(error).toMatchObject({
      phase: "tool",
      promptName: "parent",
      cause: { phase: "request", promptName: "child" },
    });
  });

  test("under a budget of its own do not pass for the parent's", async () => {
    const other = createAdapter(scripted([says("too much", 1, 99)]));

    const error = await failureOf(
      evaluate(
        scripted([calls("delegate", 1, 1)]),
        parent(() => other.evaluate(child, { budget: limited(10, 10) })),
        { budget: limited() },
      ),
    );

    expect(error).not.toBeInstanceOf(BudgetExceededError);
    expect(error).toMatchObject({ phase: "tool", cause: { dimension: "output", phase: "response" } });
  });

  test("wrapped by a handler still end the evaluation as an overage", async () => {
    const provider = scripted([calls("delegate", 1, 1), says("too much", 1_000, 1)]);

    const error = await overageOf(
      evaluate(
        provider,
        parent(async (_input, { delegate }) => {
          try {
            await delegate(child);
          } catch (cause) {
            throw new Error("research failed", { cause });
          }
        }),
        { budget: limited() },
      ),
    );

    expect(error).toMatchObject({ promptName: "parent", cause: { message: "research failed" } });
  });
});

describe("without a budget", () => {
  test("a child runs under its own, and the tally has both", async () => {
    const own = limited(100, 100);
    const provider = scripted([calls("delegate", 1, 1), says("found", 20, 10), says("done", 2, 2)]);

    const response = await evaluate(
      provider,
      parent(async (_input, { delegate, usage }) => [
        (await delegate({ ...child, budget: own })).budget === own,
        usage(),
      ]),
    );

    expect(response.toolExecutions[0]?.output).toEqual([true, { input: 21, output: 11 }]);
    expect(response).toMatchObject({ usage: { input: 23, output: 13 }, budget: null });
  });

  test("delegation is bounded in depth", async () => {
    const deeper: Tool = { name: "delegate", handler: (_input, { delegate }) => delegate(recursive) };
    const recursive = { name: "recursive", text: "Go deeper.", tools: [deeper] };
    const provider = scripted(Array.from({ length: 9 }, () => calls("delegate", 1, 1)));

    const error = await failureOf(evaluate(provider, recursive, { maxDepth: 2 }));

    expect(provider.requests).toHaveLength(3);
    expect(error).toMatchObject({ phase: "tool", cause: { phase: "tool", cause: { phase: "tool" } } });
    const deepest = (error.cause as { cause: { cause: unknown } }).cause.cause;
    expect(deepest).toMatchObject({
      phase: "request",
      message: "prompt recursive is delegated 3 deep; maxDepth allows 2",
    });
  });
});

describe("siblings", () => {
  test("of a subagent that fails are aborted with the evaluation", async () => {
    const budget = limited();
    const hanging = deferred<ProviderResponse>();
    const { provider, requests } = byPrompt({
      parent: [calls("delegate", 1, 1)],
      good: [hanging.promise],
      bad: [says("too much", 2_000, 1)],
    });

    const error = await overageOf(
      evaluate(
        provider,
        parent((_input, { delegate }) =>
          Promise.all([delegate({ ...child, name: "good" }), delegate({ ...child, name: "bad" })]),
        ),
        { budget },
      ),
    );
    await turn();

    expect(error).toMatchObject({ promptName: "bad", dimension: "input" });
    expect(requests.find(({ promptName }) => promptName === "good")?.signal.aborted).toBe(true);
    expect(nodeOf(budget).usage()).toEqual({ input: 2_011, output: 12 });
  });

  test("wait for tokens in flight, first come, first served", async () => {
    const budget = limited(1_000, 100);
    const answers = new Map(["a", "b", "c"].map((name) => [name, deferred<ProviderResponse>()]));
    const started: string[] = [];
    const provider: Provider = {
      complete({ promptName, maxOutputTokens }) {
        started.push(`${promptName} ${maxOutputTokens}`);
        return answers.get(promptName)?.promise ?? Promise.reject(new Error(promptName));
      },
    };
    const adapter = createAdapter(provider);

    const evaluations = ["a", "b", "c"].map((name) => adapter.evaluate({ name, text: "?" }, { budget }));
    await turn();
    const first = [...started];
    answers.get("a")?.resolve(says("a", 10, 30));
    await turn();
    const second = [...started];
    answers.get("b")?.resolve(says("b", 10, 30));
    answers.get("c")?.resolve(says("c", 10, 40));
    const responses = await Promise.all(evaluations);

    expect(first).toEqual(["a 100"]);
    expect(second).toEqual(["a 100", "b 70"]);
    expect(started).toEqual(["a 100", "b 70", "c 40"]);
    expect(responses.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  });

  test("run at once where their quotes fit, and a small one does not overtake", async () => {
    const budget = limited(1_000, 100);
    const answers = new Map(["a", "b", "big", "small"].map((name) => [name, deferred<ProviderResponse>()]));
    const started: string[] = [];
    const provider: Provider = {
      complete({ promptName }) {
        started.push(promptName);
        return answers.get(promptName)?.promise ?? Promise.reject(new Error(promptName));
      },
      quote: ({ promptName }) => ({ input: 10, output: promptName === "big" ? 60 : 30 }),
    };
    const adapter = createAdapter(provider);

    const evaluations = [...answers.keys()].map((name) => adapter.evaluate({ name, text: "?" }, { budget }));
    await turn();
    const atOnce = [...started];
    answers.get("a")?.resolve(says("a", 10, 10));
    await turn();
    const afterFirst = [...started];
    for (const name of ["b", "big", "small"]) answers.get(name)?.resolve(says(name, 10, 20));
    await Promise.all(evaluations);

    expect(atOnce).toEqual(["a", "b"]);
    expect(afterFirst).toEqual(["a", "b", "big"]);
    expect(started).toEqual(["a", "b", "big", "small"]);
  });

  test("that wait are stopped when nothing is left", async () => {
    const budget = limited(1_000, 100);
    const answer = deferred<ProviderResponse>();
    const provider = scripted([() => answer.promise, says("never", 1, 1)]);
    const adapter = createAdapter(provider);
    const first = adapter.evaluate({ name: "first", text: "?" }, { budget });
    const second = overageOf(adapter.evaluate({ name: "second", text: "?" }, { budget }));
    await turn();

    answer.resolve(says("all of it", 10, 100));

    expect((await first).text).toBe("all of it");
    expect(await second).toMatchObject({ phase: "budget", dimension: "output", promptName: "second" });
    expect(provider.requests).toHaveLength(1);
  });

  test("that wait leave when they are aborted, and let the next one go", async () => {
    const budget = limited(1_000, 100);
    const answer = deferred<ProviderResponse>();
    const provider: Provider = {
      complete: ({ promptName }) => (promptName === "holds" ? answer.promise : Promise.resolve(says(promptName, 1, 1))),
      quote: ({ promptName }) => ({ input: 1, output: promptName === "small" ? 20 : 70 }),
    };
    const adapter = createAdapter(provider);
    const controller = new AbortController();
    const holds = adapter.evaluate({ name: "holds", text: "?" }, { budget });
    const leaves = failureOf(adapter.evaluate({ name: "leaves", text: "?" }, { budget, signal: controller.signal }));
    const small = adapter.evaluate({ name: "small", text: "?" }, { budget });
    await turn();

    controller.abort(new Error("changed my mind"));

    expect(await leaves).toMatchObject({ phase: "request", cause: new Error("changed my mind") });
    expect((await small).text).toBe("small");
    answer.resolve(says("holds", 1, 1));
    expect((await holds).text).toBe("holds");
  });
});
