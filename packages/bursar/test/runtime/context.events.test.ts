import { expect } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { checkBudgetPreCall, recordBudgetConsumption } from "../../src/runtime/host.js";
import { contextOf, events, links, spend } from "./spending.js";

scenario("004/event-allocation", () => {
  const { context } = contextOf({ run_id: "run-7", limits: { cost_usd: 0.25 } });
  const { run_id, limits } = events(context, "Allocation")[0]?.data ?? {};

  expect(run_id).toBe("run-7");
  expect(limits).toEqual(context.limits);
});

scenario("004/event-consumption", () => {
  const { context } = contextOf();
  const check = context.checkPreCall({ step_id: "step-3", capability_id: "search", asked: { cost_usd: 0.2 } });
  if (check.proceed) context.recordConsumption(check.call_id, { metadata: { cost_usd: 0.1 } });

  expect(events(context, "Consumption")[0]?.data).toMatchObject({
    step_id: "step-3",
    capability_id: "search",
    resources: { cost_usd: 0.1, steps: 1 },
    remaining: { cost_usd: 0.4, steps: 49 },
    estimated: false,
  });
});

scenario("004/event-warning", () => {
  const { context } = contextOf({ limits: { cost_usd: 1 } });

  spend(context, { cost_usd: 0.6 });

  expect(events(context, "Warning")[0]?.data).toMatchObject({
    dimension: "cost_usd",
    percent: 50,
    consumed: 0.6,
    limit: 1,
  });
});

scenario("004/event-exhausted", () => {
  const { context } = contextOf({ limits: { llm_tokens: 10 } });
  spend(context, { llm_tokens: 10 });
  context.checkPreCall();

  expect(events(context, "Exhausted")[0]?.data).toMatchObject({
    dimension: "llm_tokens",
    policy: "approval_required",
    consumed: 10,
    limit: 10,
  });
});

scenario("004/event-extended", () => {
  const { context } = contextOf();

  context.extend({ cost_usd: 0.25 }, { approved_by: "ada", reason: "worth it" });

  expect(events(context, "Extended")[0]?.data).toMatchObject({
    dimension: "cost_usd",
    additional: 0.25,
    approved_by: "ada",
    reason: "worth it",
  });
});

scenario("004/event-run-completed", () => {
  const { context } = contextOf({ run_id: "run-7" });
  spend(context, { llm_tokens: 5 });
  context.complete();

  expect(events(context, "RunCompleted")[0]?.data).toMatchObject({
    run_id: "run-7",
    final_consumption: { llm_tokens: 5, steps: 1 },
  });
});

scenario("004/host-check-budget-pre-call", () => {
  const { context } = contextOf({ limits: { steps: 1 } });

  expect(checkBudgetPreCall(context, { capability_id: "search" }).proceed).toBe(true);
  expect(checkBudgetPreCall(context, { capability_id: "search" })).toMatchObject({ proceed: false, kind: "busy" });
});

scenario("004/host-record-budget-consumption", () => {
  const { context } = contextOf();
  const check = checkBudgetPreCall(context, { kind: "model", asked: { llm_tokens: 500 } });
  if (!check.proceed) throw new Error("the call should be admitted");

  recordBudgetConsumption(context, check.call_id, {
    value: "…",
    metadata: { usage: { prompt_tokens: 20, completion_tokens: 5 } },
  });

  expect(context.consumed).toMatchObject({ llm_tokens: 25, llm_input_tokens: 20, llm_output_tokens: 5 });
});

scenario("004/host-records-and-logs", () => {
  const { context } = contextOf();
  const check = checkBudgetPreCall(context, { kind: "model" });
  if (!check.proceed) throw new Error("the call should be admitted");

  const recorded = recordBudgetConsumption(context, check.call_id, "four", "two words");

  expect(recorded.estimated).toBe(true);
  expect(context.consumed.llm_tokens).toBe(13);
  expect(events(context, "Consumption")[0]?.data).toMatchObject({ estimated: true, estimate: { llm_tokens: 13 } });
});

scenario("004/chain-actions", async () => {
  const { context } = contextOf({ limits: { steps: 1 } });
  spend(context, {});
  context.checkPreCall();
  context.extend("steps", 1);
  context.complete();

  const budgetLinks = links(context).filter(({ event }) => event !== undefined);

  expect(budgetLinks.map(({ event }) => event)).toEqual([
    "Allocation",
    "Consumption",
    "Warning",
    "Warning",
    "Exhausted",
    "Extended",
    "RunCompleted",
  ]);
  expect(new Set(budgetLinks.map(({ action_type }) => action_type))).toEqual(new Set(["BudgetConsumptionRecorded"]));
  expect(await verifyChain(context.chain, { hash: sha256Hex })).toMatchObject({ ok: true });
});

scenario("004/chain-metadata", () => {
  const { context } = contextOf();
  const check = context.checkPreCall({ kind: "model", asked: { llm_tokens: 100, cost_usd: 0.01 } });
  const metadata = { duration_ms: 321, usage: { prompt_tokens: 20, completion_tokens: 5 }, total_cost_usd: 0.002 };
  if (check.proceed) context.recordConsumption(check.call_id, { metadata });

  expect(events(context, "Consumption")[0]?.data.metadata).toEqual({
    duration_ms: 321,
    llm_input_tokens: 20,
    llm_output_tokens: 5,
    cost_usd: 0.002,
  });
});
