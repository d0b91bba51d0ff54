import fc from "fast-check";
import { expect, test } from "vitest";
import { createAdapter } from "../../src/prompt/adapter.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import { PromptEvaluationError } from "../../src/prompt/errors.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import { type Provider, ProviderError } from "../../src/prompt/provider.js";
import type { TokenUsage } from "../../src/prompt/tokens.js";
import type { Tool } from "../../src/prompt/tool.js";
import { says, scripted } from "./scripted.js";

/** One request of a subagent, and how it ends. */
interface Step {
  readonly quote: TokenUsage;
  /** How much of what it may use it does use, in tenths. */
  readonly tenths: number;
  /** What it uses beyond what it said or was allowed. */
  readonly over: TokenUsage;
  readonly ending: "reports" | "says nothing" | "fails" | "fails and reports";
}

const tokens = (min: number, max: number) =>
  fc.record({ input: fc.integer({ min, max }), output: fc.integer({ min, max }) });
const step: fc.Arbitrary<Step> = fc.record({
  quote: tokens(1, 30),
  tenths: fc.integer({ min: 0, max: 10 }),
  over: fc.oneof(
    { weight: 9, arbitrary: fc.constant({ input: 0, output: 0 }) },
    { weight: 1, arbitrary: tokens(0, 5) },
  ),
  ending: fc.oneof(
    { weight: 6, arbitrary: fc.constant("reports" as const) },
    fc.constantFrom("says nothing" as const, "fails" as const, "fails and reports" as const),
  ),
});
const agents = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 6 });
const limit = fc.record({ input: fc.option(fc.integer({ min: 1, max: 90 })), output: fc.integer({ min: 1, max: 90 }) });
const again: Tool = { name: "again", handler: () => "ok" };
const toolCalls = [{ id: "1", name: "again", input: {} }];

/** A provider that plays the steps of each agent, ends in any order, and keeps its own account of what was charged. */
function played(plans: readonly (readonly Step[])[], s: fc.Scheduler, quotes: boolean) {
  const next = plans.map(() => 0);
  const charged = { input: 0, output: 0 };
  const over = { input: 0, output: 0 };
  const largest = { input: 0 };
  const stepOf = (name: string): Step => plans[Number(name)]?.[next[Number(name)] ?? 0] as Step;
  const provider: Provider = {
    async complete({ promptName, maxOutputTokens }) {
      const { quote, tenths, ending, over: more } = stepOf(promptName);
      const index = Number(promptName);
      next[index] = (next[index] ?? 0) + 1;
      const allowed = { input: quote.input, output: Math.min(quote.output, maxOutputTokens ?? quote.output) };
      await s.schedule(Promise.resolve(promptName));
      if (ending === "says nothing" || ending === "fails") {
        charged.input += quote.input;
        charged.output += maxOutputTokens ?? quote.output;
        if (ending === "fails") throw new Error("failed");
        return { text: "", toolCalls };
      }
      const usage = {
        input: Math.floor((allowed.input * tenths) / 10) + more.input,
        output: Math.floor((allowed.output * tenths) / 10) + more.output,
      };
      for (const kind of ["input", "output"] as const) {
        charged[kind] += usage[kind];
        over[kind] += more[kind];
      }
      largest.input = Math.max(largest.input, usage.input);
      if (ending === "fails and reports") throw new ProviderError("failed", { usage });
      const last = next[index] === plans[index]?.length;
      return last ? { text: "done", usage } : { text: "", toolCalls, usage };
    },
    ...(quotes ? { quote: ({ promptName }) => stepOf(promptName).quote } : {}),
  };
  return { provider, charged, over, largest };
}

test("parallel subagents with honest quotes never pass the limit by more than was over-reported", async () => {
  await fc.assert(
    fc.asyncProperty(agents, limit, fc.scheduler(), async (plans, tokenLimit, s) => {
      const budget = new Budget({ tokenLimit });
      const { provider, charged, over } = played(plans, s, true);
      const adapter = createAdapter(provider);

      const ends = Promise.allSettled(
        plans.map((_, index) => adapter.evaluate({ name: String(index), text: "?", tools: [again] }, { budget })),
      );
      const results = await s.waitFor(ends);

      const used = nodeOf(budget).usage();
      expect(used).toEqual(charged);
      expect(used.output).toBeLessThanOrEqual(tokenLimit.output + over.output);
      if (tokenLimit.input !== null) expect(used.input).toBeLessThanOrEqual(tokenLimit.input + over.input);
      for (const result of results) {
        if (result.status === "rejected") expect(result.reason).toBeInstanceOf(PromptEvaluationError);
      }
      await expectNothingHeld(budget, used);
    }),
    { numRuns: 150 },
  );
});

test("without quotes only the last request can pass the limit, and only by its own input", async () => {
  await fc.assert(
    fc.asyncProperty(agents, limit, fc.scheduler(), async (drawn, tokenLimit, s) => {
      const plans = drawn.map((steps) => steps.map((each): Step => ({ ...each, ending: "reports" })));
      const budget = new Budget({ tokenLimit });
      const { provider, charged, over, largest } = played(plans, s, false);
      const adapter = createAdapter(provider);

      await s.waitFor(
        Promise.allSettled(
          plans.map((_, index) => adapter.evaluate({ name: String(index), text: "?", tools: [again] }, { budget })),
        ),
      );

      const used = nodeOf(budget).usage();
      expect(used).toEqual(charged);
      expect(used.output).toBeLessThanOrEqual(tokenLimit.output + over.output);
      if (tokenLimit.input !== null) expect(used.input).toBeLessThan(tokenLimit.input + Math.max(1, largest.input));
      await expectNothingHeld(budget, used);
    }),
    { numRuns: 150 },
  );
});

/** A request that takes all that remains gets it at once: no reservation has leaked. */
async function expectNothingHeld(budget: Budget, used: TokenUsage): Promise<void> {
  const provider = scripted([says("rest", 0, 0)]);
  const response = await evaluate(provider, { name: "rest", text: "?" }, { budget }).catch(() => null);
  if (response === null) return;
  expect(provider.requests[0]?.maxOutputTokens).toBe((budget.tokenLimit?.output ?? 0) - used.output);
}
