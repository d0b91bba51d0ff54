import { describe, expect, test } from "vitest";
import { EXAMPLE, effectiveBudget, PRESETS, readConfig, shippedConfig } from "../../src/config/config.js";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import { defaultLimits, defaultPolicies } from "../../src/core/input.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { budgetOf, limitsOf, openingOf, refusalsOf } from "./helpers.js";

const config = shippedConfig();

describe("the shipped policies", () => {
  test("are data, and can be used as a file would write them", () => {
    for (const [name, input] of Object.entries(PRESETS)) {
      const copied = readConfig(JSON.stringify({ governance: { policies: { copied: input } } }));
      const limits = (policy: string) => openingOf(effectiveBudget({ config: copied, policy, authority: "operator" }));
      expect(limits("copied")).toEqual(limits(name));
    }
  });

  test("moderate is the table of dimensions, written out", () => {
    const { limits, policies } = openingOf(effectiveBudget({ config, policy: "moderate", authority: "operator" }));
    const table = defaultLimits(STANDARD);
    expect(limits).toMatchObject({ steps: table.steps, llm_tokens: table.llm_tokens, cost_usd: 0.5 });
    expect(policies).toEqual(defaultPolicies(STANDARD));
    expect(limits).toEqual(openingOf(effectiveBudget({ config, authority: "operator" })).limits);
  });

  test("strict: 0 is 0, no model is called, and no override lifts it", async () => {
    const strict = effectiveBudget({ config, policy: "strict", authority: "operator" });
    expect(limitsOf(strict)).toMatchObject({ cost_usd: [0, "preset strict"], llm_tokens: [0, "preset strict"] });
    using gate = new Gate({ store: new MemoryStore() });
    await gate.open("run", openingOf(strict));
    const call = (asked: Record<string, number>) =>
      gate.call({ budget: "run", capability_id: "x", asked }, async () => ({ value: 1 }));
    expect((await call({ llm_tokens: 1 })).kind).toBe("refused");
    expect((await call({ cost_usd: 0.000000001 })).kind).toBe("refused");
    expect(
      refusalsOf(
        effectiveBudget({ config, policy: "strict", override: { limits: { cost_usd: 1 } }, authority: "operator" }),
      ),
    ).toEqual(["cost_usd 1.00 is above the ceiling 0.00 (preset strict); ask for less, or name another policy"]);
  });

  test("strict lets work go on that asks for nothing of what it forbids", async () => {
    using gate = new Gate({ store: new MemoryStore() });
    await gate.open("run", openingOf(effectiveBudget({ config, policy: "strict", authority: "operator" })));
    const done = await gate.call({ budget: "run", capability_id: "x" }, async () => ({ value: 1 }));
    expect(done.kind).toBe("done");
  });

  test("allow warns where the others stop, but asks about money", () => {
    const { policies } = openingOf(effectiveBudget({ config, policy: "allow", authority: "operator" }));
    expect(policies).toMatchObject({ steps: "soft_warn", cost_usd: "approval_required" });
  });

  test("can be extended and redefined", () => {
    const text = `governance:
  policies:
    strict: {extends: strict, budgets: {steps: 5}}
    moderate: {budgets: {steps: 7}}
    mine: {extends: strict, ceilings: {cost_usd: null}, budgets: {cost_usd: 0.10}}
`;
    const own = readConfig(text, { file: "b.yaml" });
    const limits = (policy: string) => limitsOf(effectiveBudget({ config: own, policy, authority: "operator" }));
    expect(limits("strict")).toMatchObject({ steps: [5, "policy strict, b.yaml:3"], cost_usd: [0, "preset strict"] });
    expect(limits("moderate")).toMatchObject({ steps: [7, "policy moderate, b.yaml:4"], cost_usd: [5e8, "default"] });
    expect(limits("mine")).toMatchObject({
      steps: [5, "policy strict, b.yaml:3"],
      cost_usd: [1e8, "policy mine, b.yaml:5"],
      llm_tokens: [0, "preset strict"],
    });
  });

  test("fit a ledger that counts fewer dimensions", () => {
    const few = new Dimensions([STANDARD.get("steps")]);
    const effective = effectiveBudget({ config: shippedConfig(few), policy: "strict", authority: "operator" });
    expect(openingOf(effective).limits).toEqual({ steps: 20 });
  });
});

test("the example can be used as it stands, and so can everything that it comments out", () => {
  const standing = readConfig(EXAMPLE, { file: "bursar.yaml" });
  expect(standing.notes).toEqual([]);
  expect(budgetOf(effectiveBudget({ config: standing, authority: "operator" })).wrap_up).toBeNull();

  const whole = EXAMPLE.replace(/^(\s*)# (?=\s*[a-z_.]+:(?:\s|$))/gm, "$1");
  const config = readConfig(whole, { file: "bursar.yaml" });
  expect([...config.agents.keys(), ...config.sessions.keys()]).toEqual(["researcher", "default"]);
  expect(config).toMatchObject({
    store: { url: "sqlite:bursar.db" },
    webhook: { secret_env: "BURSAR_WEBHOOK_SECRET" },
    deployments: { chat_prod: "gpt-4o-mini" },
    allow: { "openrouter.ai": ["provider"] },
  });
  expect(config.policies.get("research")?.extends).toBe("moderate");
  expect(config.tenant?.layer.limits.cost_usd?.value).toBe(100_000_000_000);
  expect(budgetOf(effectiveBudget({ config, authority: "operator" })).wrap_up).toEqual({
    cost_usd: 0.05,
    llm_tokens: 4000,
  });
});
