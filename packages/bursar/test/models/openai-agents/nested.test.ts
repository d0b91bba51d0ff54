import { Agent, handoff } from "@openai/agents";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { nested } from "../../../src/models/openai-agents/nested.js";
import { openScene } from "./scene.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const delegates = {
  kind: "text",
  text: "",
  tool_calls: [{ name: "research", arguments: { input: "Rome" } }],
  usage: USAGE,
} as const;

function team(depth = 1): Agent {
  let agent = new Agent({ name: "Researcher", model: "scripted" });
  for (let level = 0; level < depth; level++) {
    const tool = nested(agent.asTool({ toolName: "research", toolDescription: "Finds out." }));
    agent = new Agent({ name: `Lead ${level}`, model: "scripted", tools: [tool] });
  }
  return agent;
}

test("agents that are used as tools are paid for by the same budget", async () => {
  await using at = await openScene([delegates, "Found.", "Told."]);
  await withBudget({ cost_usd: 1, steps: 3 }, async (budget) => {
    const result = await at.runner.run(team(), "Go.");
    expect(result.finalOutput).toBe("Told.");
    expect((await budget.state()).used.steps).toBe(3);
  });
});

test("a refusal that the SDK swallows inside of a tool stops the parent at its next call", async () => {
  await using at = await openScene([delegates, "Found.", "Told."]);
  await withBudget({ cost_usd: 1, steps: 1 }, async () => {
    const error: unknown = await at.runner.run(team(), "Go.").catch((each: unknown) => each);
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect((error as BudgetExceededError).report).toMatchObject({ dimension: "steps", used: 1 });
  });
  // Only the parent's first request was sent: neither the child's, nor one with the text of the swallowed error.
  expect(at.model.count).toBe(1);
});

test("rounds are counted where they are limited, by the agent and those below it", async () => {
  await using at = await openScene(() => delegates);
  await withBudget({ iterations: 3 }, async (budget) => {
    const error: unknown = await at.runner.run(team(2), "Go.").catch((each: unknown) => each);
    expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "iterations", limit: 3 });
    expect((await budget.state()).used).toMatchObject({ iterations: 3, steps: 3 });
  });
  expect(at.model.count).toBe(3);
});

test("a limit of depth bounds how far agents call agents", async () => {
  await using at = await openScene((request) => (request.number <= 2 ? delegates : "Done."));
  await withBudget({ depth: 1 }, async (budget) => {
    const error: unknown = await at.runner.run(team(2), "Go.").catch((each: unknown) => each);
    expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "depth", limit: 1 });
    expect((await budget.state()).used.depth).toBe(1);
  });
  expect(at.model.count).toBe(2);
});

test("a handoff goes on in the same budget and at the same depth", async () => {
  const expert = new Agent({ name: "Expert", model: "scripted" });
  const clerk = new Agent({ name: "Clerk", model: "scripted", handoffs: [handoff(expert)] });
  const hands = {
    kind: "text",
    text: "",
    tool_calls: [{ name: "transfer_to_Expert", arguments: {} }],
    usage: USAGE,
  } as const;
  await using at = await openScene([hands, "Done."]);
  await withBudget({ depth: 0, iterations: 5, cost_usd: 1 }, async (budget) => {
    const result = await at.runner.run(clerk, "Go.");
    expect(result.finalOutput).toBe("Done.");
    expect((await budget.state()).used).toMatchObject({ iterations: 2, steps: 2 });
  });
});
