import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { effectiveBudget, printOrigin, readConfig, shippedConfig } from "../../src/config/config.js";
import { InputError } from "../../src/core/errors.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { budgetOf, limitsOf, openingOf, refusalsOf } from "./helpers.js";

const TEXT = `governance:
  default_policy: house
  policies:
    house:
      extends: moderate
      budgets:
        cost_usd: 0.50
        steps: 40
      exhaustion_policies:
        cost_usd: approval_required
      ceilings:
        cost_usd: 2.00
        network_egress_bytes: 1MB
      thresholds: [25, 75]
      wrap_up_reserve:
        cost_usd: 0.05
        llm_tokens: 4000
      approval_expiry_ms: 2h
    free:
      budgets: {cost_usd: null, steps: null, llm_tokens: 100}
  agents:
    researcher:
      policy: free
      budgets: {steps: 200}
    writer:
      budgets: {steps: 10}
      thresholds: [90]
  sessions:
    default:
      budgets: {cost_usd: 1.00}
    nightly:
      budgets: {cost_usd: 0.30, llm_tokens: 50}
      exhaustion_policies: {llm_tokens: soft_warn}
  tenant:
    budgets: {cost_usd: 100, fuel: 1000}
`;
const config = readConfig(TEXT, { file: "bursar.yaml" });

/** The session limits as the specification prints them. */
const PRINTED_SESSION = {
  steps: 200,
  wall_clock_ms: 600_000,
  llm_tokens: 200_000,
  cost_usd: 1.0,
  network_egress_bytes: 10_485_760,
  storage_write_bytes: 52_428_800,
};

scenario("004/config-session-budget", "the rules, and a gate that keeps them", async () => {
  const operator = { config: shippedConfig(), authority: "operator" } as const;
  const override = { limits: { steps: 500, cost_usd: 5, llm_tokens: 1000 } };
  const effective = effectiveBudget({ ...operator, override, session: { name: "s", limits: PRINTED_SESSION } });

  expect(limitsOf(effective)).toMatchObject({
    steps: [200, "session s"],
    cost_usd: [1_000_000_000, "session s"],
    llm_tokens: [1000, "override"],
    wall_clock_ms: [60_000, "default"],
  });
  const partly = effectiveBudget({ ...operator, override, session: { name: "s", limits: { steps: 7 } } });
  expect(limitsOf(partly)).toMatchObject({ steps: [7, "session s"], cost_usd: [5_000_000_000, "override"] });

  using gate = new Gate({ store: new MemoryStore() });
  const [session] = budgetOf(effective).shared;
  await gate.open("s", { ...session?.opening, scope: "shared" });
  await gate.open("run", { ...openingOf(effective), parent: "s" });
  const most = await gate.call({ budget: "run", capability_id: "llm", asked: { cost_usd: 1 } }, async () => ({
    value: 1,
    usage: { cost_usd: 1 },
  }));
  expect(most.kind).toBe("done");
  const more = await gate.call({ budget: "run", capability_id: "llm", asked: { cost_usd: 0.01 } }, async () => ({
    value: 1,
  }));
  expect(more.kind).toBe("refused");
});

describe("by default", () => {
  test("a run gets its policy, what that extends, and the table of dimensions", () => {
    expect(limitsOf(effectiveBudget({ config, authority: "agent" }))).toMatchObject({
      cost_usd: [500_000_000, "policy house, bursar.yaml:7"],
      steps: [40, "policy house, bursar.yaml:8"],
      llm_tokens: [100_000, "preset moderate"],
      network_egress_bytes: [1_048_576, "ceiling of policy house, bursar.yaml:13"],
      fuel: [1000, "tenant, bursar.yaml:35"],
      iterations: [null, "default"],
    });
  });

  test("policies, thresholds, reserve and expiry come with their origins", () => {
    const budget = budgetOf(effectiveBudget({ config, authority: "operator" }));
    const cost = budget.dimensions.find(({ dimension }) => dimension.id === "cost_usd");
    expect(cost?.policy.value).toBe("approval_required");
    expect(cost && printOrigin(cost.policy.origin)).toBe("policy house, bursar.yaml:10");
    expect(budget.thresholds).toMatchObject({ value: [25, 75], origin: { place: { line: 14 } } });
    expect(budget.approval_expiry_ms).toMatchObject({ value: 7_200_000, origin: { place: { line: 18 } } });
    expect(budget.wrap_up).toEqual({ cost_usd: 0.05, llm_tokens: 4000 });
    expect(budget.opening.policies).toMatchObject({ cost_usd: "approval_required", steps: "hard_stop" });
  });

  test("an agent has a policy and limits of its own, and may have neither", () => {
    const researcher = effectiveBudget({ config, agent: "researcher", authority: "agent" });
    expect(limitsOf(researcher)).toMatchObject({
      steps: [200, "agent researcher, bursar.yaml:24"],
      cost_usd: [100_000_000_000, "tenant, bursar.yaml:35"],
      llm_tokens: [100, "policy free, bursar.yaml:20"],
    });
    const writer = effectiveBudget({ config, agent: "writer", authority: "agent" });
    expect(budgetOf(writer)).toMatchObject({ policy: { name: "house" }, thresholds: { value: [90] } });
    expect(limitsOf(effectiveBudget({ config, agent: "nobody", authority: "agent" })).steps?.[0]).toBe(40);
  });

  test("a session clamps, the one called default stands in for others, and one that only warns clamps nobody", () => {
    const inSession = (session: string) => limitsOf(effectiveBudget({ config, session, authority: "operator" }));
    expect(inSession("nightly")).toMatchObject({
      cost_usd: [300_000_000, "session nightly, bursar.yaml:32"],
      llm_tokens: [100_000, "preset moderate"],
    });
    const override = { limits: { cost_usd: 2 } };
    expect(limitsOf(effectiveBudget({ config, override, session: "chat-7", authority: "operator" })).cost_usd).toEqual([
      1_000_000_000,
      "session default, bursar.yaml:30",
    ]);
    const wide = { name: "nightly", limits: { cost_usd: 9, steps: 5 } };
    expect(limitsOf(effectiveBudget({ config, session: wide, authority: "operator" }))).toMatchObject({
      cost_usd: [300_000_000, "session nightly, bursar.yaml:32"],
      steps: [5, "session nightly"],
    });
  });

  test("whoever opens a session cannot make a limit of the file warn only, though the file leaves what happens then unsaid", () => {
    const given = readConfig("governance: { sessions: { team: { budgets: { steps: 100, cost_usd: 1 } } } }");
    const opened = (policies: Record<string, string>) => {
      const session = { name: "team", limits: { fuel: 5 }, policies: { fuel: "soft_warn", ...policies } };
      return budgetOf(effectiveBudget({ config: given, session, authority: "operator" })).shared[0]?.opening.policies;
    };
    const strict = { steps: "hard_stop", cost_usd: "hard_stop", fuel: "soft_warn" };
    expect(opened({ steps: "soft_warn", cost_usd: "approval_required" })).toEqual(strict);
  });

  test("a gate opens with what comes out, reserve included", async () => {
    const store = new MemoryStore();
    using gate = new Gate({ store });
    const budget = budgetOf(effectiveBudget({ config, session: "nightly", authority: "operator" }));
    let parent: string | undefined;
    for (const { name, opening } of budget.shared) {
      await gate.open(name, { ...opening, scope: "shared", ...(parent === undefined ? {} : { parent }) });
      parent = name;
    }
    expect(budget.shared.map(({ kind }) => kind)).toEqual(["tenant", "session"]);
    expect(budget.shared[1]?.opening.policies).toEqual({ cost_usd: "hard_stop", llm_tokens: "soft_warn" });
    await gate.open("run", { ...budget.opening, parent: parent ?? "" });
    expect(await store.budget("run")).toMatchObject({
      parent: "nightly",
      limits: { cost_usd: 300_000_000, steps: 40, fuel: 1000 },
      thresholds: [25, 75],
    });
  });
});

describe("an operator", () => {
  const ask = (limits: Record<string, number | string | null>, policy?: string) =>
    effectiveBudget({ config, policy, override: { limits, from: "--budget" }, authority: "operator" });

  test("goes in either direction, up to the ceilings", () => {
    expect(limitsOf(ask({ cost_usd: 2, steps: 1000, "llm-tokens": null, wall_clock: "5m" }))).toMatchObject({
      cost_usd: [2_000_000_000, "--budget"],
      steps: [1000, "--budget"],
      llm_tokens: [null, "--budget"],
      wall_clock_ms: [300_000, "--budget"],
    });
    expect(refusalsOf(ask({ cost_usd: 2.01, steps: 1, network_egress: null }))).toEqual([
      "cost_usd 2.01 is above the ceiling 2.00 (policy house, bursar.yaml:12); ask for less, or name another policy",
      "network_egress_bytes no limit is above the ceiling 1048576 (policy house, bursar.yaml:13); ask for less, or name another policy",
    ]);
  });

  test("may loosen a policy, and name another one", () => {
    const override = { policies: { steps: "soft-warn" } };
    expect(openingOf(effectiveBudget({ config, override, authority: "operator" })).policies.steps).toBe("soft_warn");
    expect(limitsOf(ask({}, "free")).steps).toEqual([null, "policy free, bursar.yaml:20"]);
    expect(refusalsOf(ask({}, "fre"))).toEqual(['there is no policy "fre"; did you mean free?']);
  });

  test("finds the run override of the specification working under its defaults", () => {
    const override = { limits: { steps: 100, "cost-usd": 1.0 }, policies: { "cost-usd": "approval-required" } };
    const effective = effectiveBudget({ config: shippedConfig(), override, authority: "operator" });
    expect(openingOf(effective)).toMatchObject({
      limits: { steps: 100, cost_usd: 1, llm_tokens: 100_000 },
      policies: { cost_usd: "approval_required", steps: "hard_stop" },
    });
  });

  test("is told of everything in an override that is no limit", () => {
    expect(() => ask({ cots_usd: 1, steps: -1 })).toThrow(/cots_usd is not a dimension[\s\S]*steps is -1/);
    expect(() => ask({ steps: undefined as never })).toThrow("override.limits.steps has no value");
    expect(() => effectiveBudget({ config, override: { limit: {} } as never, authority: "operator" })).toThrow(
      "override.limit is not known here; did you mean limits?",
    );
    expect(() => effectiveBudget({ config, authority: "root" as never })).toThrow(InputError);
  });
});

describe("an agent", () => {
  const ask = (limits: Record<string, number | null>, more: object = {}) =>
    effectiveBudget({ config, override: { limits }, authority: "agent", ...more });

  test("may only tighten", () => {
    expect(limitsOf(ask({ cost_usd: 0.5, steps: 3 }))).toMatchObject({ steps: [3, "override"] });
    expect(refusalsOf(ask({ cost_usd: 1, steps: null }))).toEqual([
      "an agent may only tighten: steps no limit is above 40 (policy house, bursar.yaml:8)",
      "an agent may only tighten: cost_usd 1.00 is above 0.50 (policy house, bursar.yaml:7)",
    ]);
    expect(ask({ cost_usd: 1 })).toMatchObject({
      kind: "refused",
      refusals: [{ code: "widens", dimension: "cost_usd", asked: "1.00", allowed: "0.50", origin: { kind: "policy" } }],
    });
  });

  test("may only tighten what happens at the limit, too", () => {
    const policies = { steps: "approval_required", cost_usd: "hard_stop" };
    expect(refusalsOf(effectiveBudget({ config, override: { policies }, authority: "agent" }))).toEqual([
      "an agent may only tighten: steps approval_required is less strict than hard_stop (preset moderate)",
    ]);
  });

  test("does not widen its budget by naming another policy", () => {
    expect(refusalsOf(ask({}, { policy: "free" }))).toEqual([
      "an agent may only tighten: steps no limit is above 40 (policy house, bursar.yaml:8)",
      "an agent may only tighten: cost_usd no limit is above 0.50 (policy house, bursar.yaml:7)",
      "an agent may only tighten: network_egress_bytes 10485760 is above 1048576 (ceiling of policy house, bursar.yaml:13)",
    ]);
    expect(limitsOf(ask({}, { policy: "strict" })).cost_usd).toEqual([0, "preset strict"]);
  });
});

describe("a child", () => {
  const parent = budgetOf(
    effectiveBudget({
      config,
      override: { limits: { steps: 20 }, from: "--budget" },
      session: "nightly",
      authority: "operator",
    }),
  );

  test("gets what its parent got, or less", () => {
    const child = effectiveBudget({ config, authority: "child", parent });
    expect(limitsOf(child)).toMatchObject({
      steps: [20, "parent --budget"],
      cost_usd: [300_000_000, "parent session nightly, bursar.yaml:32"],
    });
    expect(budgetOf(child)).toMatchObject({ session: "nightly", shared: [], wrap_up: null });
    const grandchild = effectiveBudget({ config, authority: "child", parent: budgetOf(child) });
    expect(limitsOf(grandchild).steps).toEqual([20, "parent --budget"]);
    const named = effectiveBudget({ config, agent: "researcher", authority: "child", parent });
    expect(limitsOf(named)).toMatchObject({
      steps: [20, "parent --budget"],
      llm_tokens: [100, "policy free, bursar.yaml:20"],
    });
  });

  test("may only tighten, whoever starts it", () => {
    for (const authority of ["operator", "agent", "child"] as const) {
      const effective = effectiveBudget({ config, override: { limits: { steps: 21 } }, authority, parent });
      expect(refusalsOf(effective)).toEqual(["a child may only tighten: steps 21 is above 20 (parent --budget)"]);
    }
  });

  test("does not exist without a parent", () => {
    expect(() => effectiveBudget({ config, authority: "child" })).toThrow("a child needs what the run above it got");
  });
});

test("a reserve is never more than the limit it is set aside from", () => {
  const reserve = (limits: Record<string, number | null>) =>
    budgetOf(effectiveBudget({ config, override: { limits }, authority: "operator" })).wrap_up;
  expect(reserve({ cost_usd: 0.02 })).toEqual({ cost_usd: 0.02, llm_tokens: 4000 });
  expect(reserve({ cost_usd: 0, llm_tokens: null })).toBeNull();
});
