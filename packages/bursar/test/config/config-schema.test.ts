import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { defineDimension, STANDARD } from "bursar";
import { ConfigError, configSchema, EXAMPLE, readConfig } from "bursar/config";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

// The published schema is checked with another validator than the loader's, as editors have their own.
const ajv = new Ajv2020({ strict: false });
const accepts = ajv.compile(configSchema(STANDARD));

function isAccepted(text: string): boolean {
  return accepts(parse(text) ?? {}) as boolean;
}

function isLoadable(text: string): boolean {
  try {
    readConfig(text);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** The whole configurations of a page: its blocks of YAML that the loader takes. */
function examplesIn(page: string): readonly string[] {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), "utf8");
  return [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = ""]) => block).filter(isLoadable);
}

const uncommented = EXAMPLE.slice(EXAMPLE.indexOf("# foresight:")).replaceAll(/^# ?/gm, "");
const examples = [EXAMPLE, uncommented, ...["CONFIGURATION.md", "FORESIGHT.md"].flatMap(examplesIn)];

describe("the published schema accepts", () => {
  test("every example", () => {
    expect(examples.length).toBeGreaterThan(3);
    for (const text of examples)
      expect({ text, errors: isAccepted(text) ? [] : accepts.errors }).toEqual({ text, errors: [] });
  });

  test.each([
    "max-cost-usd: ~",
    "token_budget: 7",
    "wall-clock: 1.5h",
    "wall_clock_ms: 250 ms",
    "network_egress: 10 MiB",
    "memory_peak_bytes: 512kb",
    "steps: 0x10",
    "cost_usd: 0.000000001",
    "cost_usd: 0",
    "fuel: 1e9",
  ])("a limit as the loader does: %s", (limit) => {
    const text = `governance: {policies: {default: {budgets: {${limit}}, ceilings: {${limit}}}}}`;
    expect([isLoadable(text), isAccepted(text)]).toEqual([true, true]);
  });
});

describe("the published schema refuses what the loader refuses:", () => {
  test.each([
    "governance: {polices: {}}",
    "govrnance: {}",
    "governance: {constructor: {}}",
    "governance: {policies: {a: {policies: {}}}}",
    "governance: {policies: {a: {extends: 3}}}",
    'governance: {policies: {"a b": {}}}',
    "governance: {policies: []}",
    "governance: {policies: {a: {budgets: {cots_usd: 1}}}}",
    "governance: {policies: {a: {budgets: {steps: -1}}}}",
    "governance: {policies: {a: {budgets: {steps: 1.5}}}}",
    "governance: {policies: {a: {budgets: {steps: 60s}}}}",
    "governance: {policies: {a: {budgets: {cost_usd: 10MB}}}}",
    "governance: {policies: {a: {budgets: {cost_usd: 9000001}}}}",
    "governance: {policies: {a: {budgets: {wall_clock_ms: 60 seconds}}}}",
    "governance: {policies: {a: {budgets: [1]}}}",
    "governance: {policies: {a: {exhaustion_policies: {steps: stop}}}}",
    "governance: {policies: {a: {thresholds: 50}}}",
    "governance: {policies: {a: {thresholds: [100]}}}",
    "governance: {policies: {a: {approval_expiry_ms: 0}}}",
    "governance: {policies: {a: {wrap_up_reserve: {depth: 1}}}}",
    "governance: {policies: {a: {wrap_up_reserve: {steps: null}}}}",
    "governance: {agents: {x: {ceilings: {}}}}",
    "governance: {sessions: {x: {wrap_up_reserve: {}}}}",
    "store: bursar.db",
    "store: 3",
    "webhook: {url: 'https://x/y'}",
    "webhook: {url: 'ftp://x', secret_env: A}",
    "webhook: {url: 'https://me:pw@x/y', secret_env: A}",
    "webhook: {url: 'https://x/y', secret_env: pw-1}",
    "- 1",
    "governance:",
    "deployments: {a: 5}",
    "allow: {openrouter.ai: provider}",
    "foresight: {preflight: maybe}",
    "foresight: {enabled: 1}",
    "foresight: {predict: {cost_usd: 1}}",
    "foresight: {predict: {model: m, cost_usd: -1}}",
    "foresight: {tiers: {lists: {}}}",
    "foresight: {tiers: {lists: {a: {tiers: []}}}}",
    "foresight: {tiers: {lists: {'a b': {tiers: [{name: a, model: m}]}}}}",
    "foresight: {tiers: {lists: {a: {tiers: [{name: a, model: bursar/auto}]}}}}",
    "foresight: {batches: {provider: other, model: m}}",
    "foresight: {batches: {provider: openai, model: m, price_factor: 2}}",
    "foresight: {batches: {provider: openai, model: m, window_ms: soon}}",
    "foresight: {reuse: {embeddings: {window_ms: 2000}}}",
    "foresight: {reuse: {cache: {bytes: -1}}}",
  ])("%s", (text) => {
    expect([isLoadable(text), isAccepted(text)]).toEqual([false, false]);
  });
});

test("what one part of a file says of another is for the loader alone", () => {
  for (const text of [
    "governance: {default_policy: strct}",
    "governance: {policies: {a: {extends: a}}}",
    "governance: {policies: {a: {budgets: {steps: 9}, ceilings: {steps: 8}}}}",
    "foresight: {tiers: {lists: {a: {floor: b, tiers: [{name: a, model: m}]}}}}",
  ]) {
    expect([isLoadable(text), isAccepted(text)]).toEqual([false, true]);
  }
});

test("dimensions of the caller's own are in the schema", () => {
  const own = STANDARD.with(defineDimension({ id: "emails_sent", kind: "sum", unit: "emails" }));
  const schema = new Ajv2020({ strict: false }).compile(configSchema(own));
  expect(schema(parse("governance: {policies: {a: {budgets: {emails-sent: 3}}}}"))).toBe(true);
  expect(isAccepted("governance: {policies: {a: {budgets: {emails-sent: 3}}}}")).toBe(false);
});

test("the file of the package is this schema", () => {
  execFileSync(process.execPath, [new URL("../../config-schema.mjs", import.meta.url).pathname]);
  const file = readFileSync(new URL("../../dist/config.schema.json", import.meta.url), "utf8");
  expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(configSchema(STANDARD))));
});
