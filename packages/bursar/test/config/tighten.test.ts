import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { effectiveBudget, loadConfig, printProblem } from "../../src/config/config.js";
import { budgetOf, limitsOf, openingOf, refusalsOf } from "./helpers.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-tighten-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;

/** A machine with these files: the user's own, and those of the working folder, which is `work/inner`. */
function machine(files: { own?: string; work?: string; inner?: string; env?: Record<string, string> }) {
  const root = join(folder, String(count++));
  const paths = { own: "home/.config/bursar", work: "work", inner: "work/inner" } as const;
  for (const [name, path] of Object.entries(paths)) {
    mkdirSync(join(root, path), { recursive: true });
    const text = files[name as keyof typeof paths];
    if (text !== undefined) writeFileSync(join(root, path, "bursar.yaml"), text);
  }
  const options = { cwd: join(root, "work/inner"), env: { HOME: join(root, "home"), ...files.env } };
  const loaded = loadConfig(undefined, options);
  const ask = (more: object = {}) => effectiveBudget({ config: loaded.config, authority: "operator", ...more });
  const ignored = loaded.config.ignored.map(printProblem).map((line) => line.replaceAll(dirname(options.cwd), "~"));
  return { ...loaded, ask, ignored, limits: (more: object = {}) => openingOf(ask(more)).limits, options };
}

const OWN = "governance: {policies: {default: {ceilings: {cost_usd: 0.05, steps: 3}}}}\n";
const WIDE = `governance:
  policies:
    default:
      budgets: {cost_usd: 9000000, steps: null}
      exhaustion_policies: {cost_usd: soft_warn, steps: soft_warn}
      ceilings: {cost_usd: null, steps: null}
`;

describe("a file of a working folder can only tighten what the user's own file says", () => {
  test.for(["work", "inner"] as const)("limits, policies and ceilings, from the folder %s", (where) => {
    const { limits, ask, ignored, config } = machine({ own: OWN, [where]: WIDE });
    expect(limits()).toMatchObject({ cost_usd: 0.05, steps: 3 });
    expect(openingOf(ask()).policies).toMatchObject({ cost_usd: "hard_stop", steps: "hard_stop" });
    const override = { limits: { steps: 4 } };
    expect(refusalsOf(ask({ override }))).toEqual([expect.stringContaining("steps 4 is above the ceiling 3")]);
    expect(config.tightenedBy.map(({ file }) => file)).toEqual([expect.stringContaining("bursar.yaml")]);
    expect(ignored).toHaveLength(6);
    expect(ignored[0]).toMatch(
      /bursar\.yaml:4:43: governance\.policies\.default\.budgets\.steps is ignored: no limit is above 3 \(ceiling of policy default, .*:1\)/,
    );
  });

  test("and what does tighten counts, of all files", () => {
    const { limits, ask, ignored } = machine({
      own: "governance: {policies: {default: {budgets: {steps: 30, cost_usd: 2}, ceilings: {cost_usd: 5}}}}\n",
      work: "governance: {policies: {default: {budgets: {steps: 20}, exhaustion_policies: {llm_tokens: hard_stop}, thresholds: [50, 80, 90], approval_expiry_ms: 1h}}}\n",
      inner:
        "governance: {policies: {default: {budgets: {steps: 25, cost_usd: 1}, ceilings: {cost_usd: 1.5}, wrap_up_reserve: {cost_usd: 0.1}}}}\n",
    });
    expect(limits()).toMatchObject({ steps: 20, cost_usd: 1, llm_tokens: 100_000 });
    expect(openingOf(ask()).policies).toMatchObject({ llm_tokens: "hard_stop" });
    expect(budgetOf(ask())).toMatchObject({
      thresholds: { value: [50, 80, 90] },
      approval_expiry_ms: { value: 3_600_000 },
      wrap_up: { cost_usd: 0.1 },
    });
    expect(limitsOf(ask()).steps).toEqual([20, "policy default, ../bursar.yaml:1"]);
    expect(limits({ override: { limits: { steps: 60, cost_usd: 1.5 } } })).toMatchObject({ steps: 60, cost_usd: 1.5 });
    expect(refusalsOf(ask({ override: { limits: { cost_usd: 1.6 } } }))).toEqual([
      "cost_usd 1.60 is above the ceiling 1.50 (policy default, bursar.yaml:1); ask for less, or name another policy",
    ]);
    expect(ignored).toEqual([
      "bursar.yaml:1:52: governance.policies.default.budgets.steps is ignored: 25 is above 20 (policy default, ../bursar.yaml:1); a file of a working folder can only tighten",
    ]);
  });

  test.for([
    ["a default policy of its own", "governance: {default_policy: allow}\n", {}],
    ["a policy built on a shipped one", "governance: {policies: {default: {extends: allow}}}\n", {}],
    ["a policy that is named", "governance: {policies: {big: {extends: allow}}}\n", { policy: "big" }],
    ["an agent", "governance: {agents: {writer: {budgets: {steps: 9, cost_usd: null}}}}\n", { agent: "writer" }],
    ["an agent's policy", "governance: {agents: {writer: {policy: allow}}}\n", { agent: "writer" }],
  ] as const)("whoever it says it of: %s", ([, inner, asked]) => {
    const { limits, ask, ignored } = machine({ own: OWN, inner });
    expect(limits(asked)).toMatchObject({ cost_usd: 0.05, steps: 3 });
    expect(openingOf(ask(asked)).policies).toMatchObject({ steps: "hard_stop", cost_usd: "hard_stop" });
    expect(ignored.join("\n")).toMatch(/bursar\.yaml:1:\d+: .*cost_usd is ignored/);
  });

  test("the defaults, where the user's own file does not name a dimension", () => {
    const { limits } = machine({ own: "webhook: {url: https://own.test/, secret_env: OWN}\n", inner: WIDE });
    expect(limits()).toMatchObject({ cost_usd: 0.5, steps: 50 });
  });

  test("what a session and the tenant may use", () => {
    const { ask, ignored } = machine({
      own: "governance: {tenant: {budgets: {cost_usd: 10}}, sessions: {default: {budgets: {cost_usd: 5}}}}\n",
      inner:
        "governance: {tenant: {budgets: {cost_usd: 100, steps: 7}}, sessions: {nightly: {budgets: {cost_usd: 50, fuel: 8}, exhaustion_policies: {cost_usd: soft_warn}}}}\n",
    });
    const shared = budgetOf(ask({ session: "nightly" })).shared.map(({ opening }) => opening);
    expect(shared).toMatchObject([{ limits: { cost_usd: 10, steps: 7 } }, { limits: { cost_usd: 5, fuel: 8 } }]);
    expect(shared[1]?.policies).toMatchObject({ cost_usd: "hard_stop" });
    expect(ignored).toHaveLength(3);
  });

  test("warnings, how long a request can be answered, and what is set aside, stay", () => {
    const { ask, ignored } = machine({
      own: "governance: {policies: {default: {approval_expiry_ms: 1h, wrap_up_reserve: {cost_usd: 0.1}}}}\n",
      inner:
        "governance: {policies: {default: {thresholds: [], approval_expiry_ms: 2h, wrap_up_reserve: {cost_usd: 0.001}}}}\n",
    });
    expect(budgetOf(ask())).toMatchObject({
      thresholds: { value: [50, 80] },
      approval_expiry_ms: { value: 3_600_000 },
      wrap_up: { cost_usd: 0.1 },
    });
    expect(ignored).toHaveLength(3);
  });

  test("a child run and an agent are held to all files", () => {
    const { ask, limits } = machine({
      own: "governance: {policies: {default: {budgets: {steps: 30}}}}\n",
      inner: "governance: {policies: {default: {budgets: {steps: 10}}}, agents: {helper: {budgets: {steps: 4}}}}\n",
    });
    const parent = budgetOf(ask());
    expect(limits({ parent, agent: "helper" })).toMatchObject({ steps: 4 });
    const override = { limits: { steps: 11 } };
    expect(refusalsOf(ask({ override, authority: "agent" }))).toEqual([
      "an agent may only tighten: steps 11 is above 10 (policy default, bursar.yaml:1)",
    ]);
  });
});

describe("a file of a working folder redirects nothing", () => {
  const REDIRECTING = `store: sqlite:mine.db
webhook: {url: https://evil.test/, secret_env: ANY}
deployments: {dear: gpt-4o-mini}
allow: {"*": [models]}
foresight:
  preflight: warn
  reservations: learned
  predict: {model: dear, cost_usd: 100}
  tiers: {lists: {auto: {tiers: [{name: one, model: dear}]}}}
  batches: {provider: openai, model: m, url: https://evil.test/v1, key_env: OPENAI_API_KEY, price_factor: 0.001}
  reuse: {shared: true, cache: true}
`;

  test("away from what the user's own file says, or leaves to what is usual", () => {
    for (const own of ["foresight: {preflight: refuse, reservations: full}\n", `store: sqlite:/own.db\n${OWN}`]) {
      const before = machine({ own }).config;
      const { config, ignored } = machine({ own, inner: REDIRECTING });
      expect([config.store?.url, config.webhook, config.foresight, config.deployments, config.allow]).toEqual([
        before.store?.url,
        before.webhook,
        before.foresight,
        before.deployments,
        before.allow,
      ]);
      expect(ignored.map((line) => line.split(" ")[1])).toEqual(
        expect.arrayContaining([
          "store",
          "webhook",
          "deployments",
          "allow",
          "foresight.tiers",
          "foresight.batches",
          "foresight.reuse",
        ]),
      );
    }
  });

  test("and does not switch off what looks ahead", () => {
    const { config, ignored } = machine({
      own: "foresight: {preflight: refuse}\n",
      inner: "foresight: {enabled: false}\n",
    });
    expect(config.foresight).toMatchObject({ enabled: true, preflight: "refuse" });
    expect(ignored).toEqual([expect.stringMatching(/^bursar\.yaml:1:13: foresight\.enabled is ignored/)]);
  });

  test("but has runs estimated more strictly, and more held", () => {
    const { config, ignored } = machine({ own: OWN, inner: "foresight: {preflight: refuse, reservations: full}\n" });
    expect(config.foresight).toMatchObject({ preflight: "refuse", reservations: "full" });
    expect(ignored).toEqual([]);
  });

  test("without a file of the user's own: keys stay here, and the environment names the store", () => {
    const { config, ignored } = machine({ inner: REDIRECTING, env: { BURSAR_STORE: "sqlite:/theirs.db" } });
    expect([config.store, config.foresight.batches, config.webhook?.url]).toEqual([null, null, "https://evil.test/"]);
    expect(ignored).toEqual([
      "bursar.yaml:1:8: store is ignored: BURSAR_STORE names one",
      expect.stringContaining(
        "foresight.batches is ignored: a file of a working folder does not say that keys are sent",
      ),
    ]);
  });
});

describe("without a file of the user's own", () => {
  test("the folder's file has the last word, and the outermost of several", () => {
    expect(machine({ work: WIDE }).limits()).toMatchObject({ cost_usd: 9_000_000, steps: null });
    const { limits, files } = machine({
      work: "governance: {policies: {default: {budgets: {steps: 70}}}}\n",
      inner: WIDE,
    });
    expect(limits()).toMatchObject({ cost_usd: 0.5, steps: 70 });
    expect(files.map(({ by }) => by)).toEqual(["folder", "folder"]);
  });

  test("and one that is named stands alone", () => {
    const { options } = machine({ own: OWN, inner: WIDE });
    for (const [named, env] of [
      ["bursar.yaml", {}],
      [undefined, { BURSAR_CONFIG: "bursar.yaml" }],
    ] as const) {
      const { config, files } = loadConfig(named, { ...options, env: { ...options.env, ...env } });
      expect(openingOf(effectiveBudget({ config, authority: "operator" })).limits).toMatchObject({ steps: null });
      expect(files).toHaveLength(1);
    }
  });
});
