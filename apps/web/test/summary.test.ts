import type { Link } from "bursar/chain";
import { expect, test } from "vitest";
import { summaryOf } from "../src/chain/summary.js";

const link = (event: string | null, action_type: string, data: Link["data"]): Link => ({
  ...{ action_type, at: 0, cause: null, chain: "c", data, id: "c#0", prev: "", seq: 0, hash: "" },
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

test("what is not known is told by what it says, without what every link says", () => {
  const data = { run_id: "r", budget: "r", at: 1, checkpoint_id: "k", nested: { a: 1 }, done: true };

  expect(summaryOf(link(null, "Novelty", data))).toBe("checkpoint id k, done true");
});

test("a link from elsewhere that says nonsense is no reason to fail, and a long one is cut", () => {
  expect(summaryOf(link("Warning", "x", { dimension: null, consumed: "much" }))).toBe("? at ? %: ? of ?");
  expect(summaryOf(link(null, "x", { text: "a".repeat(1000) })).length).toBeLessThan(170);
});
