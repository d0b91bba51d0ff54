import { expect, test } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import { STANDARD } from "../../src/core/dimensions.js";
import type { Known } from "../../src/ports/foresight.js";
import { type AgentOptions, defineAgent } from "../../src/runs/agent.js";

const known: Known = {
  dimensions: STANDARD,
  tool: (name) => (name === "search" ? { cost_usd: 0.005 } : null),
  model: async () => null,
  program: async () => null,
};

const opinion = (expects: AgentOptions<{ pages: number }>["expects"], input: Json = { pages: 3 }) =>
  defineAgent("a", async () => null, expects === undefined ? {} : { expects }).expects?.(input, known);

test("an agent states in edge units what it will take", async () => {
  const stated = await opinion(({ pages }, { tool }) => ({
    steps: pages + 0.5,
    "max-cost-usd": { median: 0.001, upper: pages * (tool("search", {})?.cost_usd ?? 0) },
    wall_clock_ms: 500,
  }));
  expect(stated).toEqual({
    dimensions: {
      steps: { median: 4, upper: 4 },
      cost_usd: { median: 1_000_000, upper: 15_000_000 },
      wall_clock_ms: { median: 500, upper: 500 },
    },
    about: "stated by the program",
  });
});

test("or that it does not know, or nothing at all", async () => {
  expect(await opinion(async () => null)).toBeNull();
  expect(await opinion(() => ({}))).toEqual({ dimensions: {}, about: "stated by the program" });
  expect(defineAgent("a", async () => null).expects).toBeUndefined();
});

test("what makes no sense is refused", async () => {
  const table: readonly (readonly [unknown, string])[] = [
    [{ stepz: 5 }, "did you mean steps?"],
    [{ steps: -1 }, "expects.steps is -1"],
    [{ steps: Number.NaN }, "expects.steps is NaN"],
    [{ steps: { median: 5, upper: 4 } }, "expects.steps.upper is 4, below the median; allowed: 5 or more"],
    [{ steps: { median: 5, most: 6 } }, "expects.steps.most is not known here"],
    [{ steps: { median: 5 } }, "expects.steps.upper is undefined"],
    [{ cost_usd: 1, max_cost_usd: 2 }, "a second time"],
    [5, "expects is 5"],
  ];
  for (const [stated, message] of table) await expect(opinion(() => stated as never)).rejects.toThrow(message);
  expect(() => defineAgent("a", async () => null, { expects: 5 as never })).toThrow(
    "expects is 5; allowed: a function",
  );
});
