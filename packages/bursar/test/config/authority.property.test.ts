import fc from "fast-check";
import { expect, test } from "vitest";
import { type Authority, type EffectiveBudget, effectiveBudget, readConfig } from "../../src/config/config.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { POLICIES } from "../../src/core/policy.js";

const IDS = STANDARD.all.map(({ id }) => id);

/** Small numbers, so that they meet; null is no limit. */
const limits = fc.dictionary(fc.constantFrom(...IDS), fc.option(fc.nat({ max: 6 }), { nil: null }), { maxKeys: 8 });
const policies = fc.dictionary(fc.constantFrom(...IDS), fc.constantFrom(...POLICIES), { maxKeys: 6 });

interface Written {
  readonly budgets: Readonly<Record<string, number | null>>;
  readonly exhaustion_policies: Readonly<Record<string, string>>;
  readonly ceilings: Readonly<Record<string, number | null>>;
  readonly [key: string]: unknown;
}

/** A policy whose own limits are under its own ceilings, as a file demands. */
const policy = fc
  .record({ budgets: limits, exhaustion_policies: policies, ceilings: limits })
  .map((each): Written => ({ ...each, budgets: under(each.budgets, each.ceilings) }));

const file = fc.record({
  house: policy,
  other: policy,
  agent: limits,
  agentPolicies: policies,
  session: limits,
  sessionPolicies: policies,
  tenant: limits,
});

const asked = fc.record({ limits, policies });

function under<Limit>(
  budgets: Readonly<Record<string, Limit>>,
  ceilings: Readonly<Record<string, number | null>>,
): Readonly<Record<string, Limit>> {
  return Object.fromEntries(
    Object.entries(budgets).filter(([id, limit]) => value(limit as number) <= value(ceilings[id])),
  );
}

function value(limit: number | null | undefined): number {
  return limit === null || limit === undefined ? Number.POSITIVE_INFINITY : limit;
}

/** JSON is YAML, so what was drawn is a file. */
function configOf(drawn: typeof file extends fc.Arbitrary<infer T> ? T : never) {
  const { house, other, agent, agentPolicies, session, sessionPolicies, tenant } = drawn;
  const governance = {
    default_policy: "house",
    policies: { house, other },
    agents: { a: { budgets: under(agent, house.ceilings), exhaustion_policies: agentPolicies } },
    sessions: { s: { budgets: session, exhaustion_policies: sessionPolicies } },
    tenant: { budgets: tenant },
  };
  return { config: readConfig(JSON.stringify({ governance })), governance };
}

function limitIn(budget: EffectiveBudget, id: string): number {
  return value(budget.opening.limits[id]);
}

function strictness(budget: EffectiveBudget, id: string): number {
  return POLICIES.indexOf(budget.opening.policies[id] ?? "soft_warn");
}

const names = { policy: fc.constantFrom("house", "other", undefined), agent: fc.constantFrom("a", "b", undefined) };

test("an agent never gets more, nor anything less strict, than it gets unasked", () => {
  fc.assert(
    fc.property(file, asked, names.policy, names.agent, fc.boolean(), (drawn, override, named, agent, inSession) => {
      const { config } = configOf(drawn);
      const common = { config, agent, session: inSession ? "s" : null, authority: "agent" } as const;
      const unasked = effectiveBudget(common);
      const answer = effectiveBudget({ ...common, policy: named, override });
      if (unasked.kind === "refused") throw new Error("a run that asks for nothing was refused");
      if (answer.kind === "refused") return;
      for (const id of IDS) {
        expect(limitIn(answer.budget, id)).toBeLessThanOrEqual(limitIn(unasked.budget, id));
        expect(strictness(answer.budget, id)).toBeLessThanOrEqual(strictness(unasked.budget, id));
      }
    }),
    { numRuns: 400 },
  );
});

test("an agent that only tightens is never refused, and gets what it asked for", () => {
  fc.assert(
    fc.property(file, limits, (drawn, wish) => {
      const { config } = configOf(drawn);
      const unasked = effectiveBudget({ config, authority: "agent" });
      if (unasked.kind === "refused") throw new Error("a run that asks for nothing was refused");
      const tighter = Object.fromEntries(
        Object.entries(wish).filter(([id, limit]) => value(limit) <= limitIn(unasked.budget, id)),
      );
      const answer = effectiveBudget({ config, override: { limits: tighter }, authority: "agent" });
      if (answer.kind === "refused") throw new Error(answer.refusals[0]?.message);
      for (const [id, limit] of Object.entries(tighter)) expect(limitIn(answer.budget, id)).toBe(value(limit));
    }),
    { numRuns: 250 },
  );
});

test("what is effective is the least of what was asked for or given, the ceiling, the session and the tenant", () => {
  fc.assert(
    fc.property(file, asked, fc.boolean(), (drawn, override, inSession) => {
      const { config, governance } = configOf(drawn);
      const { house } = governance.policies;
      const session = inSession ? "s" : null;
      const answer = effectiveBudget({ config, agent: "a", override, session, authority: "operator" });
      const tooMuch = IDS.filter(
        (id) => id in override.limits && value(override.limits[id]) > value(house.ceilings[id]),
      );
      if (answer.kind === "refused") {
        expect(answer.refusals.map(({ dimension }) => dimension)).toEqual(tooMuch);
        return;
      }
      expect(tooMuch).toEqual([]);
      for (const { id, defaultLimit, defaultPolicy, decimals } of STANDARD.all) {
        const unnamed = defaultLimit === null ? null : defaultLimit / 10 ** decimals;
        const own = [override.limits, governance.agents.a.budgets, house.budgets].find((layer) => id in layer);
        const warns = (drawn.sessionPolicies[id] ?? defaultPolicy) === "soft_warn";
        const expected = Math.min(
          value(own === undefined ? unnamed : own[id]),
          value(house.ceilings[id]),
          inSession && !warns ? value(drawn.session[id]) : Number.POSITIVE_INFINITY,
          value(drawn.tenant[id]),
        );
        expect([id, limitIn(answer.budget, id)]).toEqual([id, expected]);
      }
    }),
    { numRuns: 400 },
  );
});

test("down any line of children, limits only get lower and policies only stricter", () => {
  const line = fc.array(fc.record({ asked, agent: names.agent, policy: names.policy }), { minLength: 1, maxLength: 6 });
  const authority = fc.constantFrom<Authority>("operator", "agent", "child");
  fc.assert(
    fc.property(file, line, authority, (drawn, children, by) => {
      const { config } = configOf(drawn);
      const root = effectiveBudget({ config, session: "s", authority: "operator" });
      if (root.kind === "refused") throw new Error("a run that asks for nothing was refused");
      let parent = root.budget;
      for (const { asked: override, agent, policy: named } of children) {
        const answer = effectiveBudget({ config, policy: named, agent, override, authority: by, parent });
        if (answer.kind === "refused") continue;
        for (const id of IDS) {
          expect(limitIn(answer.budget, id)).toBeLessThanOrEqual(limitIn(parent, id));
          expect(strictness(answer.budget, id)).toBeLessThanOrEqual(strictness(parent, id));
        }
        parent = answer.budget;
      }
    }),
    { numRuns: 250 },
  );
});
