import type { Link } from "bursar/chain";
import { expect, test } from "vitest";
import { summaryOf } from "../src/pages/chain/summary.js";

const link = (event: string | null, action_type: string, data: Link["data"]): Link => ({
  action_type,
  at: 0,
  cause: null,
  chain: "c",
  data,
  id: "c#0",
  prev: "",
  seq: 0,
  hash: "",
  ...(event === null ? {} : { event }),
});

test.for([
  [
    "Consumption",
    { capability_id: "search", resources: { cost_usd: 0.04, steps: 1 } },
    "search used cost $0.04, steps 1",
  ],
  ["Warning", { dimension: "cost_usd", percent: 80, consumed: 0.08, limit: 0.1 }, "Cost at 80 %: $0.08 of $0.10"],
  ["Extended", { dimension: "fuel", additional: 2e9, approved_by: "ann" }, "Fuel +2B by ann"],
  ["Denied", { dimension: "steps", denied_by: "ann" }, "Steps denied by ann"],
  ["Allocation", { limits: {} }, "limits nothing"],
] as const)("%s in a line", ([event, data, line]) => {
  expect(summaryOf(link(event, "BudgetConsumptionRecorded", data))).toBe(line);
});

test.for([
  [
    "RunEstimated",
    { fits: false, dimensions: { cost_usd: { median: 0.1, upper: 0.6 }, steps: { median: 4, upper: 9 } } },
    "expected not to fit: cost about $0.10, up to $0.60; steps about 4, up to 9",
  ],
  ["RunEstimated", { fits: true, dimensions: {} }, "expected: nobody knows what it will take"],
  [
    "RunEstimated",
    { run_id: "r.0", parent: "r", program: "notes", fits: true, dimensions: { steps: { median: 2, upper: 4 } } },
    "run r.0 (notes) expected: steps about 2, up to 4",
  ],
  [
    "TierSwitched",
    {
      from: { model: "large", quote: { cost_usd: 0.4 } },
      to: { model: "small", quote: { cost_usd: 0.1 } },
      reason: "too little is left",
    },
    "large (cost $0.40) → small (cost $0.10): too little is left",
  ],
  ["TierSwitched", { from: null, to: { model: "small", quote: null }, reason: "fits" }, "small: fits"],
  ["TierPinned", { to: { model: "small" }, step: "part 1", reason: "first" }, "small for all of part 1"],
  [
    "Batched",
    { model: "small", quote_usd: 0.05, full_quote_usd: 0.1 },
    "small waits in a batch: up to $0.05 instead of $0.10",
  ],
  ["Saved", { kind: "cache", saved_usd: 0.02 }, "$0.02 saved: the answer was kept from before"],
  [
    "AnswerDearer",
    {
      capability_id: "llm:small",
      priced_usd: 0.01,
      charged_usd: 0.75,
      answered: { model: ["a", "b"], cost_usd: 0.75 },
    },
    "llm:small is charged $0.75 instead of $0.01: the answer says model a, b, cost $0.75",
  ],
  [
    "AnswerUnpriced",
    { capability_id: "llm:small", model: "small", answered: { service_tier: "turbo" } },
    "llm:small was answered with service tier turbo, which has no price; it is charged as it was asked",
  ],
  ["Saved", { kind: "embeddings", saved_usd: 0 }, "a request saved: sent together with others"],
] as const)("%s in a line", ([action, data, line]) => {
  expect(summaryOf(link(null, action, data))).toBe(line);
});

test("what is not known is told by what it says, without what every link says", () => {
  const data = { run_id: "r", budget: "r", at: 1, checkpoint_id: "k", nested: { a: 1 }, done: true };

  expect(summaryOf(link(null, "Novelty", data))).toBe("checkpoint id k, done true");
});

test("a link from elsewhere that says nonsense is no reason to fail, and a long one is cut", () => {
  expect(summaryOf(link("Warning", "x", { dimension: null, consumed: "much" }))).toBe("? at ? %: ? of ?");
  expect(summaryOf(link(null, "x", { text: "a".repeat(1000) })).length).toBeLessThan(170);
});
