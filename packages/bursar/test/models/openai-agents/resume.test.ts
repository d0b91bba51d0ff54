import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, RunContext, RunState, tool } from "@openai/agents";
import { SqliteStore } from "bursar/sqlite";
import { expect, test } from "vitest";
import { z } from "zod";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { openScene, weatherAgent } from "./scene.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const ASKS = {
  kind: "text",
  text: "",
  tool_calls: [{ name: "weather", arguments: { city: "Rome" } }],
  usage: USAGE,
} as const;
const SAYS = { kind: "text", text: "Rain.", usage: USAGE } as const;
const LIMITS = { steps: 1, cost_usd: 1 };
const POLICIES = { steps: "approval_required" } as const;

test("a run that needs approval stops, is kept as a text, and goes on after an extension with nothing redone", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-agents-"));
  const path = join(folder, "budgets.db");
  const open = { name: "forecasts", policies: POLICIES };
  await using at = await openScene([ASKS, SAYS]);
  try {
    const first = weatherAgent();
    const text = await (async () => {
      await using store = await SqliteStore.open({ path });
      const budget = await openBudget(LIMITS, { ...open, store });
      return await budget.run(async () => {
        const state = new RunState(new RunContext({}), "How is Rome?", first.agent, 10);
        const error: unknown = await at.runner.run(first.agent, state).catch((each: unknown) => each);
        expect(BudgetExceededError.from(error)?.report.code).toBe("approval_required");
        return state.toString();
      });
    })();
    expect(at.model.count).toBe(1);

    // A person, somewhere else.
    await using store = await SqliteStore.open({ path });
    await using budget = await openBudget(LIMITS, { ...open, store });
    await budget.extend({ steps: 1 }, { approved_by: "ann", reason: "one more" });

    const second = weatherAgent();
    const result = await budget.run(async () =>
      at.runner.run(second.agent, await RunState.fromString(second.agent, text)),
    );

    expect(result.finalOutput).toBe("Rain.");
    expect([first.asked, second.asked]).toEqual([["Rome"], []]);
    expect(at.model.count).toBe(2);
    expect((await budget.state()).used).toMatchObject({ steps: 2, llm_tokens: 240 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a streamed run keeps its state too", async () => {
  await using at = await openScene([ASKS, SAYS]);
  const { agent, asked } = weatherAgent();
  await using budget = await openBudget(LIMITS, { policies: POLICIES });

  const text = await budget.run(async () => {
    const result = await at.runner.run(agent, "How is Rome?", { stream: true });
    await expect(result.completed).rejects.toThrow("approve an extension");
    return result.state.toString();
  });
  await budget.extend({ steps: 1 });
  const result = await budget.run(async () => at.runner.run(agent, await RunState.fromString(agent, text)));

  expect(result.finalOutput).toBe("Rain.");
  expect(asked).toEqual(["Rome"]);
  expect(at.model.count).toBe(2);
});

test("whoever may approve is asked in place, and the run goes on by itself", async () => {
  await using at = await openScene([ASKS, SAYS]);
  const { agent } = weatherAgent();
  const questions: string[] = [];
  const approve = async ({ dimension }: { readonly dimension: string }) => {
    questions.push(dimension);
    return { steps: 1 };
  };
  await using budget = await openBudget(LIMITS, { policies: POLICIES, approve });

  const result = await budget.run(() => at.runner.run(agent, "How is Rome?"));

  expect(result.finalOutput).toBe("Rain.");
  expect(questions).toEqual(["steps"]);
});

test("a tool that the SDK wants approved pauses the run as a text, and its calls are paid for once", async () => {
  await using at = await openScene([ASKS, SAYS]);
  const asked: string[] = [];
  const weather = tool({
    name: "weather",
    description: "Tells the weather of a city.",
    parameters: z.object({ city: z.string() }),
    needsApproval: true,
    execute: async ({ city }) => {
      asked.push(city);
      return "Rain.";
    },
  });
  const agent = new Agent({ name: "Forecaster", model: "scripted", tools: [weather] });
  await using budget = await openBudget({ steps: 2, cost_usd: 1 });

  const text = await budget.run(async () => {
    const paused = await at.runner.run(agent, "How is Rome?");
    expect(paused.interruptions).toHaveLength(1);
    return paused.state.toString();
  });
  expect(asked).toEqual([]);
  const state = await RunState.fromString(agent, text);
  for (const each of state.getInterruptions()) state.approve(each);
  const result = await budget.run(() => at.runner.run(agent, state));

  expect(result.finalOutput).toBe("Rain.");
  expect(asked).toEqual(["Rome"]);
  expect((await budget.state()).used).toMatchObject({ steps: 2, llm_tokens: 240 });
});
