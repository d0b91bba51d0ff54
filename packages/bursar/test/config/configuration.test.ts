import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { type Configuration, effectiveBudget, readConfig } from "../../src/config/config.js";
import { defineDimension } from "../../src/core/dimension.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { complaints, limitsOf, openingOf, problemsOf } from "./helpers.js";

/** The first example in YAML, exactly as the specification prints it. */
function printedExample(): string {
  const spec = readFileSync(new URL("../../../../specs/004-resource-budget-enforcement.md", import.meta.url), "utf8");
  return /```yaml\n([\s\S]*?)```/.exec(spec)?.[1] ?? "";
}

scenario("004/config-agent", "as printed", async () => {
  const config = readConfig(printedExample(), { file: "bursar.yaml" });
  const effective = effectiveBudget({ config, authority: "operator" });

  expect(effective).toMatchObject({ kind: "effective", budget: { policy: { name: "default" } } });
  expect(limitsOf(effective)).toMatchObject({
    cost_usd: [500_000_000, "policy default, bursar.yaml:5"],
    llm_tokens: [100_000, "policy default, bursar.yaml:6"],
    steps: [50, "policy default, bursar.yaml:7"],
    wall_clock_ms: [60_000, "policy default, bursar.yaml:8"],
    network_egress_bytes: [10_485_760, "default"],
    fuel: [null, "default"],
  });
  const store = new MemoryStore();
  using gate = new Gate({ store });
  await gate.open("run", openingOf(effective));
  expect(await store.budget("run")).toMatchObject({
    limits: { cost_usd: 500_000_000, llm_tokens: 100_000, steps: 50, wall_clock_ms: 60_000 },
    policies: { steps: "hard_stop", llm_tokens: "approval_required", cost_usd: "hard_stop" },
  });
});

describe("a limit", () => {
  const read = (budgets: string): Configuration =>
    readConfig(`governance: {policies: {default: {budgets: {${budgets}}}}}`);
  const limits = (budgets: string) => limitsOf(effectiveBudget({ config: read(budgets), authority: "operator" }));

  test.for([
    ["cost_usd: 0.1", "cost_usd", 100_000_000],
    ["cost_usd: 0.000000001", "cost_usd", 1],
    ["cost_usd: 1e-3", "cost_usd", 1_000_000],
    ["cost_usd: 9000000", "cost_usd", 9_000_000_000_000_000],
    ["cost_usd: 0", "cost_usd", 0],
    ["cost_usd: null", "cost_usd", null],
    ["max-cost-usd: ~", "cost_usd", null],
    ["token_budget: 7", "llm_tokens", 7],
    ["wall_clock: 1.5h", "wall_clock_ms", 5_400_000],
    ["wall_clock_ms: 60s", "wall_clock_ms", 60_000],
    ["wall_clock_ms: 250 ms", "wall_clock_ms", 250],
    ["wall_clock_ms: 2d", "wall_clock_ms", 172_800_000],
    ["network_egress_bytes: 10MB", "network_egress_bytes", 10_485_760],
    ["network_egress: 10 MiB", "network_egress_bytes", 10_485_760],
    ["storage_write_bytes: 0.5 GiB", "storage_write_bytes", 536_870_912],
    ["memory_peak_bytes: 512kb", "memory_peak_bytes", 524_288],
    ["steps: 0x10", "steps", 16],
    ["fuel: 1e9", "fuel", 1_000_000_000],
    ["fuel: 1234567890123457", "fuel", 1_234_567_890_123_457],
    ["fuel: 8999999999999999.0", "fuel", 8_999_999_999_999_999],
    ["storage_write_bytes: 9000000000000000", "storage_write_bytes", 9_000_000_000_000_000],
  ] as const)("%s", ([written, id, expected]) => {
    expect(limits(written)[id]?.[0]).toBe(expected);
  });

  test.for([
    ["cost_usd: -0.01", "is -0.01; allowed: a number from 0 to 9000000"],
    ["cost_usd: .nan", "is NaN; allowed"],
    ["cost_usd: .inf", "is Infinity; allowed"],
    ["cost_usd: 9000001", "is 9000001; allowed"],
    ["cost_usd: 0.1234567890123456", "has more than 15 digits"],
    // All of these are another number when they are read.
    ["cost_usd: 1234567.1234567891", "has more than 15 digits"],
    ["fuel: 1234567890123456.01", "has more than 15 digits"],
    ["fuel: 9007199254740993", "has more than 15 digits"],
    ["fuel: 9007199254740991", "is 9007199254740991; allowed: a whole number from 0 to 9000000000000000"],
    ["cost_usd: 1e-12", "smaller than the smallest unit"],
    ['cost_usd: "0.5"', "did you mean 0.5 without quotes?"],
    ["cost_usd: $0.50", "did you mean 0.50?"],
    ["cost_usd: 10MB", 'is "10MB"; allowed: a number of USD'],
    ["cost_usd: true", "is true; allowed: a number of USD"],
    ["cost_usd: [1]", "is a list; allowed"],
    ["cost_usd: {a: 1}", "is a mapping; allowed"],
    ["cost_usd:", "has no value; write null for no limit, or 0 for none of it"],
    ["steps: 1.5", "is 1.5; allowed: a whole number"],
    ["steps: 1_000", "did you mean 1000?"],
    ["steps: unlimited", "did you mean null?"],
    ["steps: 60s", 'is "60s"; allowed: a whole number of calls'],
    ["wall_clock_ms: 1.0001s", 'is "1.0001s"; allowed: a whole number of ms, or a time such as'],
    ["wall_clock_ms: 60 seconds", "or a time such as 500ms, 60s, 5m or 2h"],
    ["network_egress_bytes: 10Mb", "or a size such as 10MB or 512 KiB"],
    ["network_egress_bytes: 99999999TB", "allowed: a whole number from 0 to 9000000000000000"],
    ["cots_usd: 1", "is not a dimension; did you mean cost_usd?"],
    ["xyzzy: 1", "is not a dimension; known: steps, wall_clock_ms"],
    ["steps: 1, steps: 2", "is there already, in line 1"],
    ["cost_usd: 1, max_cost_usd: 2", "says cost_usd a second time, after line 1"],
    ["__proto__: 1", "is not a dimension"],
    ["constructor: 1", "is not a dimension"],
  ] as const)("not %s", ([written, complaint]) => {
    const text = `governance: {policies: {default: {budgets: {${written}}}}}`;
    expect(complaints(text)).toEqual([expect.stringContaining(complaint)]);
  });

  test("is exactly what was written, to the last billionth of a dollar", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (nano) => {
        const digits = String(nano).padStart(10, "0");
        const written = `${digits.slice(0, -9)}.${digits.slice(-9)}`;
        expect(limits(`cost_usd: ${written}`).cost_usd?.[0]).toBe(nano);
      }),
      { numRuns: 100 },
    );
  });

  test("can be put on a dimension of the caller's own", () => {
    const dimensions = STANDARD.with(defineDimension({ id: "emails_sent", kind: "sum", defaultLimit: 20 }));
    const text = "governance: {policies: {default: {budgets: {emails-sent: 3}}}}";

    const effective = effectiveBudget({ config: readConfig(text, { dimensions }), authority: "operator" });

    expect(limitsOf(effective).emails_sent?.[0]).toBe(3);
    expect(openingOf(effective).limits.emails_sent).toBe(3);
    expect(complaints(text)).toEqual([expect.stringContaining("is not a dimension")]);
  });
});

describe("a problem", () => {
  test("is told with its place, its line, a caret, and all the others", () => {
    const text = [
      "governance:",
      "  policies:",
      "    default:",
      "      budgets:",
      "        cots_usd: 0.5",
      "        steps: -1",
      "      exhaustion_policies:",
      "        steps: hardstop",
    ].join("\n");

    const error = problemsOf(text, { file: "bursar.yaml" });

    expect(error.code).toBe("config_invalid");
    expect(error.problems.map(({ place }) => [place?.line, place?.column])).toEqual([
      [5, 9],
      [6, 16],
      [8, 16],
    ]);
    expect(error.message.split("\n").slice(0, 3)).toEqual([
      "bursar.yaml:5:9: governance.policies.default.budgets.cots_usd is not a dimension; did you mean cost_usd?",
      "  5 |         cots_usd: 0.5",
      "    |         ^^^^^^^^",
    ]);
  });

  test.for([
    ["governance: {polices: {}}", "governance.polices is not known here; did you mean policies?"],
    ["govrnance: {}", "govrnance is not known here; did you mean governance?"],
    ["prices: {}", "prices is not known here; known: governance, store, webhook"],
    ["governance: {policies: {a: {policies: {}}}}", "did you mean exhaustion_policies?"],
    ["governance: {policies: {a: {extends: mdoerate}}}", "which is no policy; did you mean moderate?"],
    ["governance: {policies: {a: {extends: a}}}", "goes round in a circle: a extends a"],
    ["governance: {policies: {a: {extends: b}, b: {extends: a}}}", "a extends b extends a; break it"],
    ["governance: {policies: {a: {extends: 3}}}", "is 3; allowed: the name of a policy; put it in quotes"],
    ['governance: {policies: {"a b": {}}}', "is no name"],
    ["governance: {policies: []}", "is a list; allowed: a mapping of policies by name"],
    ["governance: {default_policy: strct}", "did you mean strict?"],
    ["governance: {agents: {x: {policy: moderat}}}", "did you mean moderate?"],
    ["governance: {agents: {x: {ceilings: {}}}}", "governance.agents.x.ceilings is not known here"],
    ["governance: {sessions: {x: {wrap_up_reserve: {}}}}", "governance.sessions.x.wrap_up_reserve is not known"],
    ["governance: {policies: {a: {thresholds: [80, 50]}}}", "at most 16 ascending percentages"],
    ["governance: {policies: {a: {thresholds: 50}}}", "at most 16 ascending percentages"],
    ["governance: {policies: {a: {thresholds: [50, ]}}, x: 1}", "governance.x is not known here"],
    ["governance: {policies: {a: {approval_expiry_ms: 0}}}", "is 0; allowed: a whole number of ms from 1"],
    ["governance: {policies: {a: {approval_expiry_ms: null}}}", "is null; allowed"],
    ["governance: {policies: {a: {exhaustion_policies: {steps: stop}}}}", 'is "stop"; did you mean hard_stop?'],
    ["governance: {policies: {a: {wrap_up_reserve: {depth: 1}}}}", "is a peak, which cannot be set aside"],
    ["governance: {policies: {a: {wrap_up_reserve: {fuel: 1}}}}", "has no limit to be set aside from"],
    ["governance: {policies: {a: {wrap_up_reserve: {cost_usd: 0.6}}}}", "more than the limit 0.50 (default)"],
    ["governance: {policies: {a: {budgets: {steps: 9}, ceilings: {steps: 8}}}}", "above the ceiling 8 (policy a, "],
    ["governance: {policies: {a: {budgets: {steps: null}, ceilings: {steps: 8}}}}", "is no limit, which is above"],
    [
      "governance: {policies: {a: {extends: strict, budgets: {cost_usd: 1}}}}",
      "above the ceiling 0.00 (preset strict)",
    ],
    ["governance: {agents: {x: {policy: strict, budgets: {cost_usd: 1}}}}", "above the ceiling 0.00 (preset strict)"],
    ["store: bursar.db", "store has no scheme"],
    ["store: 3", "store is 3; allowed: the URL of a store"],
    ["webhook: {url: 'https://x/y'}", "webhook has no secret_env; add it"],
    ["webhook: {url: 'ftp://x', secret_env: A}", "webhook.url is no http or https URL"],
    ["webhook: {url: 'https://me:pw@x/y', secret_env: A}", "webhook.url has a login in it"],
    ["- 1", "the configuration is a list; allowed: a mapping with governance, store, webhook"],
    ["governance:", "governance is empty"],
  ] as const)("is %s", ([text, complaint]) => {
    expect(complaints(text)).toEqual([expect.stringContaining(complaint)]);
  });

  test("does not repeat what may be secret", () => {
    const texts = [
      "stroe: postgres://me:hunter2@host/db",
      "stroe: postgres:me:hunter2@host",
      "webhook: {url: 'https://me:hunter2@x/y', secret_env: A}",
      "webhook: {url: 'https://x', secret: hunter2}",
      "webhook: {url: 'https://x', secret_env: 'hunter2 !'}",
      "webhook: {url: 'hunter2://x', secret_env: A}\npassword: hunter2",
      "api_key: hunter2",
    ];
    for (const text of texts) expect(problemsOf(text).message.replace("hunter2://", "")).not.toContain("hunter2");
  });

  test("carries nothing that a terminal would obey", () => {
    const text = `"\\e[31m": 1\n\u009b31m: 2\n# x\ngovernance: {default_policy: "\\u009b31m\\u202e"}`;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there.
    expect(problemsOf(text).message).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});

describe("sections", () => {
  test("a relative file of a store is meant from where the configuration stands", () => {
    const url = (store: string, file: string) => readConfig(`store: ${store}`, { file }).store?.url;
    expect(url("sqlite:bursar.db", "/etc/bursar/bursar.yaml")).toBe("sqlite:/etc/bursar/bursar.db");
    expect(url("sqlite:../b.db", "/etc/bursar/bursar.yaml")).toBe("sqlite:/etc/b.db");
    expect(url("sqlite:bursar.db", "bursar.yaml")).toBe("sqlite:bursar.db");
    expect(url("sqlite:/x.db", "/etc/bursar.yaml")).toBe("sqlite:/x.db");
    expect(url("sqlite:~/x.db", "/etc/bursar.yaml")).toBe("sqlite:~/x.db");
    expect(url("postgres://me@host/db", "/etc/bursar.yaml")).toBe("postgres://me@host/db");
  });

  test("a webhook has a URL and the name of a secret", () => {
    const text = "webhook: {url: 'https://example.com/x', secret_env: BURSAR_SECRET}";
    expect(readConfig(text).webhook).toEqual({ url: "https://example.com/x", secret_env: "BURSAR_SECRET" });
  });

  test("a policy that replaces a shipped one is worth a note", () => {
    const notes = (text: string) => readConfig(text).notes.map(({ message }) => message);
    expect(notes("governance: {policies: {strict: {budgets: {steps: 1}}}}")).toEqual([
      expect.stringContaining("write extends: strict"),
    ]);
    expect(notes("governance: {policies: {strict: {extends: strict, budgets: {steps: 1}}}}")).toEqual([]);
  });
});
