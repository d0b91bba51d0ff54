import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { type Authority, effectiveBudget, readConfig } from "../../src/config/config.js";
import { compilePlan } from "../../src/plans/plans.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openingOf, refusalsOf } from "./helpers.js";

const SPEC = readFileSync(new URL("../../../../specs/004-resource-budget-enforcement.md", import.meta.url), "utf8");

/** The agent configuration and the run of the specification, as printed; only the body that it leaves out is filled in. */
const [, AGENT = ""] = /```yaml\n([\s\S]*?)```/.exec(SPEC) ?? [];
const [, RUN = ""] = /```clojure\n(\(run[\s\S]*?)```/.exec(SPEC) ?? [];

function started(authority: Authority) {
  const config = readConfig(AGENT, { file: "bursar.yaml" });
  const { budget } = compilePlan(RUN.replace("...", "1"), { file: "plan.rtfs" });
  const override = { limits: budget?.limits ?? {}, policies: budget?.policies ?? {}, from: "plan.rtfs" };
  return effectiveBudget({ config, override, authority });
}

scenario("004/config-per-run-override", "an operator's plan, as printed", async () => {
  const store = new MemoryStore();
  using gate = new Gate({ store });

  await gate.open("run", openingOf(started("operator")));

  expect(await store.budget("run")).toMatchObject({
    limits: { steps: 100, cost_usd: 1_000_000_000, llm_tokens: 100_000, wall_clock_ms: 60_000 },
    policies: { cost_usd: "approval_required", steps: "hard_stop", llm_tokens: "approval_required" },
  });
});

test("the same plan, started by an agent, is refused with every reason", () => {
  expect(refusalsOf(started("agent"))).toEqual([
    "an agent may only tighten: steps 100 is above 50 (policy default, bursar.yaml:7)",
    "an agent may only tighten: cost_usd 1.00 is above 0.50 (policy default, bursar.yaml:5)",
    "an agent may only tighten: cost_usd approval_required is less strict than hard_stop (default)",
  ]);
});
