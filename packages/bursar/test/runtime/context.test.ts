import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { defineDimension } from "../../src/core/dimension.js";
import { STANDARD } from "../../src/core/dimensions.js";
import type { ExhaustionPolicy } from "../../src/core/policy.js";
import { BudgetContext } from "../../src/runtime/context.js";
import { checkBudgetPreCall } from "../../src/runtime/host.js";
import { contextOf, events, links, spend } from "./spending.js";

scenario("004/limits-immutable", () => {
  const { context } = contextOf({ limits: { steps: 2 } });

  context.extend("steps", 3);

  expect(events(context, "Allocation")[0]?.data.limits).toMatchObject({ steps: 2 });
  expect(context.limits.steps).toBe(5);
  expect(() => Object.assign(context, { limits: {} })).toThrow();
});

// A limit of each dimension, and what asks for one unit too much of it.
const limit = (dimension: string, most: number) => () => {
  const { context } = contextOf({ limits: { [dimension]: most } });
  const asked = dimension === "steps" ? {} : { [dimension]: most };

  for (let call = 0; call < (dimension === "steps" ? most : 1); call++) spend(context, asked);

  expect(context.limits[dimension]).toBe(most);
  expect(context.consumed[dimension]).toBe(most);
  expect(context.checkPreCall()).toMatchObject({
    kind: "exhausted",
    proceed: false,
    dimension,
    consumed: most,
    limit: most,
  });
};

scenario("004/limits-steps", limit("steps", 3));
scenario("004/limits-llm-tokens", limit("llm_tokens", 1000));
scenario("004/limits-cost-usd", limit("cost_usd", 0.25));
scenario("004/limits-network-egress-bytes", limit("network_egress_bytes", 4096));
scenario("004/limits-storage-write-bytes", limit("storage_write_bytes", 8192));

scenario("004/limits-wall-clock-ms", () => {
  const { context, clock } = contextOf({ limits: { wall_clock_ms: 100 } });

  clock.advance(99);
  expect(context.checkPreCall().proceed).toBe(true);
  clock.advance(1);

  expect(context.checkPreCall()).toMatchObject({
    kind: "exhausted",
    dimension: "wall_clock_ms",
    consumed: 100,
    limit: 100,
  });
});

// Two steps used of two, under each policy.
const exhausted = (policy: ExhaustionPolicy) => {
  const { context } = contextOf({ limits: { steps: 2 }, policies: { steps: policy } });
  spend(context, {});
  spend(context, {});
  return { context, check: context.checkPreCall({ capability_id: "search" }) };
};

scenario("004/policy-hard-stop", () => {
  const { check } = exhausted("hard_stop");

  expect(check).toMatchObject({ kind: "exhausted", policy: "hard_stop", proceed: false, refusal: "exhausted" });
});

scenario("004/policy-approval-required", () => {
  const { check, context } = exhausted("approval_required");

  expect(check).toMatchObject({ kind: "exhausted", policy: "approval_required", proceed: false });
  context.extend("steps", 1, { approved_by: "ada", reason: "nearly done" });
  expect(context.checkPreCall().proceed).toBe(true);
});

scenario("004/policy-soft-warn", () => {
  const { check, context } = exhausted("soft_warn");

  expect(check).toMatchObject({ kind: "exhausted", policy: "soft_warn", proceed: true });
  expect(context.checkPreCall().proceed).toBe(true);
  expect(events(context, "Exhausted")).toHaveLength(1);
});

scenario("004/context-limits", () => {
  const { context } = contextOf({ limits: { steps: 7, llm_tokens: null } });

  expect(context.limits).toMatchObject({ steps: 7, cost_usd: 0.5, wall_clock_ms: 60_000 });
  expect(context.limits.llm_tokens).toBeUndefined();
});

scenario("004/context-policies", () => {
  const { context } = contextOf({ policies: { "cost-usd": "approval_required" } });

  expect(context.policies).toMatchObject({
    cost_usd: "approval_required",
    llm_tokens: "approval_required",
    steps: "hard_stop",
  });
});

scenario("004/context-consumed", () => {
  const { context } = contextOf();

  for (let call = 0; call < 3; call++) spend(context, { cost_usd: 0.1, llm_tokens: 5 });

  expect(context.consumed).toMatchObject({ steps: 3, cost_usd: 0.3, llm_tokens: 15 });
  expect(context.remaining).toMatchObject({ steps: 47, cost_usd: 0.2, llm_tokens: 99_985 });
});

scenario("004/context-start-time", () => {
  const { context, clock } = contextOf();
  const began = clock.now().instant;

  clock.advance(250);

  expect(context.start_time).toBe(began);
  expect(context.consumed.wall_clock_ms).toBe(250);
});

scenario("004/context-warnings-issued", () => {
  const { context } = contextOf({ limits: { steps: 2 } });

  spend(context, {});
  spend(context, {});

  expect([...context.warnings_issued]).toEqual(["steps:50", "steps:80"]);
});

scenario("004/flow-create-context", () => {
  const { context } = contextOf({ run_id: "run-7", limits: { steps: 7 }, policies: { steps: "soft_warn" } });

  expect(context.run_id).toBe("run-7");
  expect(context.limits.steps).toBe(7);
  expect(context.policies.steps).toBe("soft_warn");
});

scenario("004/flow-log-allocation", () => {
  const { context } = contextOf({ run_id: "run-7", limits: { steps: 7 } });

  expect(links(context)[0]).toMatchObject({
    seq: 0,
    event: "Allocation",
    data: { run_id: "run-7", limits: { steps: 7 } },
  });
});

scenario("004/flow-pre-call-check", () => {
  const { context } = contextOf({ limits: { steps: 2 } });
  const answers = Array.from({ length: 4 }, () => {
    const check = context.checkPreCall();
    if (check.proceed) context.recordConsumption(check.call_id);
    return check.proceed;
  });

  expect(answers).toEqual([true, true, false, false]);
});

scenario("004/check-result-ok", () => {
  expect(contextOf().context.checkPreCall()).toMatchObject({ kind: "ok", proceed: true });
});

// What a host hears of each dimension that logs nothing but the answers of its checks.
const heardOf = (dimension: string, ...amounts: number[]) => {
  const { context, clock } = contextOf({ limits: { [dimension]: 10, steps: dimension === "steps" ? 10 : null } });
  const heard: string[] = [];
  const hear = (asked: Record<string, number>) => {
    const check = context.checkPreCall({ asked });
    const warnings = "warnings" in check ? check.warnings : [];
    heard.push(...warnings.map(({ percent, consumed, limit }) => `${percent}: ${consumed} of ${limit}`));
    return check;
  };
  for (const amount of amounts) {
    const check = hear(dimension === "wall_clock_ms" ? {} : { [dimension]: amount });
    if (dimension === "wall_clock_ms") clock.advance(amount);
    if (check.proceed) context.recordConsumption(check.call_id, { metadata: { [dimension]: amount } });
  }
  hear({});
  hear({});
  return heard;
};

scenario("004/check-result-warning", () => {
  const { context, clock } = contextOf({ limits: { wall_clock_ms: 100, steps: 10 } });
  spend(context, { steps: 5 });

  expect(context.checkPreCall()).toEqual({
    kind: "warning",
    proceed: true,
    call_id: expect.any(String),
    warnings: [{ budget: "run", dimension: "steps", percent: 50, consumed: 5, limit: 10 }],
  });
  clock.advance(60);
  expect(context.checkPreCall()).toMatchObject({
    kind: "warning",
    proceed: true,
    warnings: [{ dimension: "wall_clock_ms", percent: 50, consumed: 60, limit: 100 }],
  });
  expect(context.checkPreCall().kind).toBe("ok");
  for (const dimension of ["steps", "llm_tokens", "cost_usd", "network_egress_bytes", "storage_write_bytes"]) {
    expect([dimension, ...heardOf(dimension, 4, 2, 1, 1)]).toEqual([dimension, "50: 6 of 10", "80: 8 of 10"]);
    expect([dimension, ...heardOf(dimension, 9)]).toEqual([dimension, "50: 9 of 10", "80: 9 of 10"]);
  }
  expect(heardOf("wall_clock_ms", 4, 2, 3)).toEqual(["50: 6 of 10", "80: 9 of 10"]);
});

describe("a check tells a warning", () => {
  test("beside an exhaustion, and never in its place", () => {
    const { context } = contextOf({ limits: { steps: 2, llm_tokens: 10 }, policies: { steps: "soft_warn" } });
    spend(context, { steps: 2 });
    const first = context.checkPreCall({ asked: { llm_tokens: 6 } });

    expect(first).toMatchObject({
      kind: "exhausted",
      proceed: true,
      warnings: [
        { dimension: "steps", percent: 50 },
        { dimension: "steps", percent: 80 },
      ],
    });
    if (first.proceed) context.recordConsumption(first.call_id, { metadata: { total_tokens: 6 } });
    expect(context.checkPreCall({ asked: { llm_tokens: 100 } })).toMatchObject({
      kind: "exhausted",
      dimension: "llm_tokens",
      proceed: false,
      warnings: [{ dimension: "llm_tokens", percent: 50 }],
    });
    expect(context.checkPreCall()).toMatchObject({ kind: "exhausted", warnings: [] });
  });

  test("after a busy answer, which the same call may get many times", () => {
    const { context } = contextOf({ limits: { cost_usd: 10 } });
    const held = context.checkPreCall({ asked: { cost_usd: 4 } });
    spend(context, { cost_usd: 6 });

    expect(context.checkPreCall({ asked: { cost_usd: 1 } }).kind).toBe("busy");
    if (held.proceed) context.release(held.call_id);

    expect(context.checkPreCall({ asked: { cost_usd: 1 } })).toMatchObject({
      kind: "warning",
      warnings: [{ dimension: "cost_usd", percent: 50, consumed: 6, limit: 10 }],
    });
  });

  test("that came up when a call was given back", () => {
    const { context, clock } = contextOf({ limits: { wall_clock_ms: 100 } });
    const check = context.checkPreCall();
    clock.advance(50);
    if (check.proceed) context.release(check.call_id);

    expect(events(context, "Warning")).toHaveLength(1);
    expect(context.checkPreCall()).toMatchObject({ kind: "warning", warnings: [{ dimension: "wall_clock_ms" }] });
  });

  test("again once an extension has armed its threshold again, and not what the extension made untrue", () => {
    const { context } = contextOf({ limits: { steps: 10 } });
    spend(context, { steps: 8 });
    context.extend("steps", 2);

    expect(context.checkPreCall()).toMatchObject({ kind: "warning", warnings: [{ percent: 50, limit: 10 }] });

    context.extend("steps", 12);
    spend(context, { steps: 4 });
    expect(context.checkPreCall()).toMatchObject({
      kind: "warning",
      warnings: [{ dimension: "steps", percent: 50, consumed: 12, limit: 24 }],
    });
  });

  test("of its session, by the name of that budget", () => {
    const { context } = contextOf({ limits: { steps: 4 }, session_budget_limits: { steps: 4 } });
    spend(context, { steps: 2 });

    expect(checkBudgetPreCall(context, {})).toMatchObject({
      kind: "warning",
      warnings: [
        { budget: "run", dimension: "steps", percent: 50 },
        { budget: "run/session", dimension: "steps", percent: 50 },
      ],
    });
  });
});

scenario("004/check-result-exhausted", () => {
  const { context } = contextOf({ limits: { cost_usd: 0.1 } });

  expect(context.checkPreCall({ asked: { cost_usd: 0.2 } })).toMatchObject({
    kind: "exhausted",
    proceed: false,
    refusal: "too_large",
    dimension: "cost_usd",
    policy: "hard_stop",
  });
});

scenario("004/flow-execute-capability", () => {
  const { context } = contextOf({ limits: { steps: 1 } });
  const calls: string[] = [];
  const capability = (name: string) => {
    const check = context.checkPreCall({ capability_id: name });
    if (!check.proceed) return;
    calls.push(name);
    context.recordConsumption(check.call_id);
  };

  capability("first");
  capability("second");

  expect(calls).toEqual(["first"]);
});

scenario("004/flow-post-call-meter", () => {
  const { context } = contextOf();
  const check = context.checkPreCall({ asked: { cost_usd: 0.4, llm_tokens: 900 } });

  expect([context.remaining.cost_usd, context.held.cost_usd]).toEqual([0.5, 0.4]);
  if (check.proceed)
    context.recordConsumption(check.call_id, { metadata: { total_cost_usd: 0.15, total_tokens: 300 } });

  expect(context.consumed).toMatchObject({ cost_usd: 0.15, llm_tokens: 300, steps: 1 });
  expect(context.remaining.cost_usd).toBe(0.35);
});

scenario("004/flow-log-consumption", () => {
  const { context } = contextOf();

  spend(context, { cost_usd: 0.1 });

  expect(events(context, "Consumption")[0]?.data).toMatchObject({
    resources: { steps: 1, cost_usd: 0.1 },
    remaining: { cost_usd: 0.4 },
  });
});

scenario("004/flow-log-run-completed", () => {
  const { context } = contextOf();
  spend(context, { cost_usd: 0.1 });

  context.complete();

  expect(links(context).at(-1)).toMatchObject({
    event: "RunCompleted",
    data: { final_consumption: { steps: 1, cost_usd: 0.1 } },
  });
  expect(() => context.checkPreCall()).toThrow("has ended");
});

// The percentages warned of when a run uses these many of ten steps, one call after the other.
const warnedAfter = (...calls: number[]) => {
  const { context } = contextOf({ limits: { steps: 10 } });
  for (const steps of calls) spend(context, { steps });
  return events(context, "Warning").map(({ data }) => data.percent);
};

scenario("004/threshold-50", () => {
  expect(warnedAfter(4)).toEqual([]);
  expect(warnedAfter(4, 1)).toEqual([50]);
});

scenario("004/threshold-80", () => {
  expect(warnedAfter(5, 2)).toEqual([50]);
  expect(warnedAfter(5, 3)).toEqual([50, 80]);
});

scenario("004/threshold-100", () => {
  const { context } = contextOf({ limits: { steps: 10 } });
  spend(context, { steps: 10 });

  expect(context.checkPreCall()).toMatchObject({ kind: "exhausted", policy: "hard_stop", proceed: false });
  expect(events(context, "Exhausted")).toHaveLength(1);
});

scenario("004/threshold-once-per-run", () => {
  expect(warnedAfter(9, 1)).toEqual([50, 80]);
  expect(warnedAfter(5, 1, 1, 1, 1)).toEqual([50, 80]);
});

scenario("004/escalation-extend-methods", () => {
  const { context } = contextOf({ limits: { llm_tokens: 10 } });
  spend(context, { llm_tokens: 10 });
  expect(context.checkPreCall().proceed).toBe(false);

  context.extend("llm_tokens", 50_000, { approved_by: "ada", reason: "worth it" });

  expect(context.checkPreCall().proceed).toBe(true);
});

// What stops a run is gone after an extension of the same dimension, and the extension really takes effect.
const extension = (dimension: string, most: number, more: number) => () => {
  const { context, clock } = contextOf({
    limits: { [dimension]: most },
    policies: { [dimension]: "approval_required" },
  });
  if (dimension === "wall_clock_ms") clock.advance(most);
  else spend(context, dimension === "steps" ? {} : { [dimension]: most });
  expect(context.checkPreCall()).toMatchObject({ proceed: false, dimension });

  context.extend({ [dimension]: more });

  expect(context.limits[dimension]).toBe(most + more);
  expect(context.checkPreCall().proceed).toBe(true);
};

scenario("004/extensions-steps", extension("steps", 1, 2));
scenario("004/extensions-llm-tokens", extension("llm_tokens", 100, 50));
scenario("004/extensions-cost-usd", extension("cost_usd", 0.5, 0.25));
scenario("004/extensions-wall-clock-ms", extension("wall_clock_ms", 1000, 500));

scenario("004/approve-extend-context", () => {
  const { context } = contextOf({ limits: { steps: 1, cost_usd: 0.1 } });

  context.extend({ steps: 2, cost_usd: 0.2 }, { approved_by: "ada" });

  expect(context.limits).toMatchObject({ steps: 3, cost_usd: 0.3 });
  expect(() => context.extend({ steps: 1, fuel: 5 })).toThrow("extension.fuel has no limit");
  expect(context.limits.steps).toBe(3);
});

describe("a budget context", () => {
  test("clamps its limits to what its session has, and leaves the rest alone", () => {
    const { context } = contextOf({ limits: { steps: 100 }, session_budget_limits: { steps: 20, cost_usd: 0.1 } });

    expect(context.limits).toMatchObject({ steps: 20, cost_usd: 0.1, llm_tokens: 100_000 });
    expect(() => context.extend("steps", 1_000)).toThrow("extension.steps has no room");
  });

  test("counts a call once, and takes a late report as the truth about an estimate", () => {
    const { context } = contextOf();
    const check = context.checkPreCall({ call_id: "c-1", kind: "model", asked: { llm_tokens: 500, cost_usd: 0.1 } });
    expect(check).toMatchObject({ kind: "ok", call_id: "c-1" });

    expect(context.recordConsumption("c-1").estimated).toBe(true);
    expect(context.consumed).toMatchObject({ llm_tokens: 500, cost_usd: 0.1 });
    context.recordConsumption("c-1", { metadata: { total_tokens: 40, cost_usd: 0.01 } });
    context.recordConsumption("c-1", { metadata: { total_tokens: 40, cost_usd: 0.01 } });

    expect(context.consumed).toMatchObject({ llm_tokens: 40, cost_usd: 0.01, steps: 1 });
  });

  test("does not count pauses as running time", () => {
    const { context, clock } = contextOf({ limits: { wall_clock_ms: 100 } });
    clock.advance(60);
    context.pause();
    clock.advance(10_000);
    context.resume();

    expect(context.consumed.wall_clock_ms).toBe(60);
    expect(context.checkPreCall().proceed).toBe(true);
  });

  test("knows dimensions of the caller's own", () => {
    const dimensions = STANDARD.with(
      defineDimension({ id: "emails_sent", kind: "sum", defaultLimit: 2, defaultPolicy: "approval_required" }),
    );
    const { context } = contextOf({ dimensions });

    spend(context, { emails_sent: 2 });

    expect(context.checkPreCall()).toMatchObject({
      dimension: "emails_sent",
      policy: "approval_required",
      proceed: false,
    });
    context.extend("emails-sent", 1);
    expect(context.checkPreCall({ asked: { emails_sent: 1 } }).proceed).toBe(true);
  });

  test("refuses bad input by name and changes nothing", () => {
    const { context } = contextOf();
    const before = context.chain.length;

    expect(() => context.checkPreCall({ asked: { cost_usd: -1 } })).toThrow("asked.cost_usd is -1");
    expect(() => context.extend("cots_usd", 1)).toThrow("did you mean cost_usd?");
    expect(() => context.extend({})).toThrow("extension names no dimension");
    expect(() => context.recordConsumption("nobody")).toThrow("there is no call nobody");
    expect(() => new BudgetContext({ limits: { steps: 1.5 } })).toThrow("limits.steps is 1.5");
    expect(context.chain.length).toBe(before);
  });
});
