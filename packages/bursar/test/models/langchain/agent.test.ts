import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { openScene, type WAYS } from "./scene.js";

const ways = ["the callback alone, OpenAI", "both, OpenAI", "both, Anthropic"] as const satisfies (keyof typeof WAYS)[];
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const ASKS = {
  kind: "text",
  text: "",
  tool_calls: [{ name: "research", arguments: { topic: "Rome" } }],
  usage: USAGE,
} as const;
const SAYS = { kind: "text", text: "Rain.", usage: USAGE } as const;
const messages = [{ role: "user", content: "How is Rome?" }];

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** An agent whose tool asks the same model. */
function teamOf(model: Awaited<ReturnType<typeof openScene>>["model"]) {
  const research = tool(
    async ({ topic }: { topic: string }) => {
      try {
        return (await model.invoke(`Find out about ${topic}.`)).text;
      } catch {
        return "An error occurred. Please try again.";
      }
    },
    { name: "research", description: "Finds out.", schema: z.object({ topic: z.string() }) },
  );
  return createAgent({ model, tools: [research] });
}

describe.each(ways)("%s", (way) => {
  test("an agent, and the model inside of its tool, are paid for by one budget", async () => {
    await using at = await openScene([ASKS, "Found.", SAYS], way);
    const { callbacks = [] } = at.model;
    await withBudget({ cost_usd: 1, steps: 3, iterations: 3, depth: 1 }, async (budget) => {
      const result = await teamOf(at.model).invoke({ messages }, { callbacks });
      expect(result.messages.at(-1)?.text).toBe("Rain.");
      const { used, held } = await budget.state();
      expect(used).toMatchObject({ steps: 3, iterations: 3, depth: 1 });
      expect(held).toEqual({});
    });
    expect(at.provider.count).toBe(3);
  });

  test("a refusal that is swallowed inside of a tool stops the agent at its next call", async () => {
    await using at = await openScene([ASKS, "Found.", SAYS], way);
    const { callbacks = [] } = at.model;
    await withBudget({ steps: 1 }, async () => {
      const error: unknown = await teamOf(at.model)
        .invoke({ messages }, { callbacks })
        .catch((each: unknown) => each);
      expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "steps", used: 1 });
    });
    expect(at.provider.count).toBe(1);
  });

  test("a limit of depth refuses the model inside of the tool", async () => {
    await using at = await openScene([ASKS, "Found.", SAYS], way);
    const { callbacks = [] } = at.model;
    await withBudget({ depth: 0 }, async () => {
      const error: unknown = await teamOf(at.model)
        .invoke({ messages }, { callbacks })
        .catch((each: unknown) => each);
      expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "depth" });
    });
    expect(at.provider.count).toBe(1);
  });

  test("whoever may approve is asked in place, and the agent goes on", async () => {
    await using at = await openScene([ASKS, "Found.", SAYS], way);
    const { callbacks = [] } = at.model;
    const questions: string[] = [];
    const approve = async ({ dimension }: { readonly dimension: string }) => {
      questions.push(dimension);
      return { iterations: 1 };
    };
    await using budget = await openBudget(
      { iterations: 1 },
      { policies: { iterations: "approval_required" }, approve },
    );
    const result = await budget.run(() => teamOf(at.model).invoke({ messages }, { callbacks }));
    expect(result.messages.at(-1)?.text).toBe("Rain.");
    expect(questions).toEqual(["iterations", "iterations"]);
  });
});
