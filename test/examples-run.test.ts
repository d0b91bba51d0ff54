import { execFile, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openScriptedModel } from "bursar/testing";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "examples");
/** What the examples share. */
const SHARED = ["bill.mjs", "provider.mjs"];
const PATIENCE = { timeout: 110_000, killSignal: "SIGKILL" } as const;

/** What each example has to say when its provider is the scripted one. */
const SAYS: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  "ai-sdk-route.mjs": ["200: It is a quarter past four.", /steps +2 of 5/],
  "ai-sdk.mjs": ["looks at shelf 3", "After 4 rounds: Seen 4 of them.", /steps +4 of 4/],
  "anthropic-stream.mjs": ["Once there was a lighthouse", "It ended with max_tokens, after 120 tokens.", /120 of 120/],
  "approval.mjs": [/llm_tokens at 1000; suggested: {"llm_tokens":500}/, "The run has completed:", "Home is done."],
  "fan-out.mjs": ["lead has completed", /Riga: [1-9]\d* answers/, "Narva: 0 answers"],
  "foresight.mjs": [
    "steps: about 4, up to 4, allowed 50 (program)",
    "history: the last 12 runs",
    "It does not fit.",
    /the run has paused before its first call/,
    'suggested: {"steps":2}',
    /steps +4 of 4/,
  ],
  "gateway.mjs": [/alice 3: 200, \$0.\d+ left/, "alice 4: 402 budget_exceeded", "bob 5: 402 budget_exceeded"],
  "langchain.mjs": ["Guten Morgen", /steps +3 of 6/, /depth +1 of 1/],
  "openai-agents.mjs": ["The island is made of basalt.", /steps +3 of 6/, /depth +1 of 1/],
  "openai-sdk.mjs": ["1. It has three hearts.", /Not sent: cost_usd is at 0.001\d+ of 0.0015/],
  "plan.mjs": ["interview has completed", "Older than the town.", "By boat."],
  "python-sandbox.mjs": [
    "4 rows, mean 2.3",
    "no way out: FileNotFoundError",
    "survey has completed",
    "That is calm water.",
    "endless has failed: fuel is exhausted",
    /fuel +500000000 of 500000000/,
  ],
  "tenants.mjs": ["1 users: answered 1, then refused by steps of user-1", /then refused by llm_tokens of acme/],
  "verify-chain.mjs": [
    "As it was written: 9 links, and nothing was changed",
    "its content does not match its hash",
    "the end is missing",
  ],
};

const names = readdirSync(FOLDER).filter((name) => name.endsWith(".mjs") && !SHARED.includes(name));

/** Runs an example as a reader does, in a process of its own. Keys of whoever runs the tests are not his to spend here. */
async function run(name: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const own = Object.entries(process.env).filter(([key]) => !/^(?:OPENAI|ANTHROPIC)_/.test(key));
  const options = { ...PATIENCE, cwd: ROOT, env: { ...Object.fromEntries(own), ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, [join("examples", name)], options);
  return stdout;
}

interface Figure {
  readonly line: string;
  readonly used: number;
  readonly limit: number;
}

/** What an example says was used, of what limit. Clocks are no matter of how it is written. */
function billOf(said: string): readonly Figure[] {
  const lines = said.matchAll(/^ {2}(?!wall_clock_ms)(\w+) +([\d.e-]+) of ([\d.e-]+)$/gm);
  return [...lines].map(([line, , used, limit]) => ({ line, used: Number(used), limit: Number(limit) }));
}

function expectWithin(said: string): void {
  const bill = billOf(said);
  expect(bill).not.toEqual([]);
  expect(bill.filter(({ used, limit }) => !(used <= limit))).toEqual([]);
}

test("every example is tried here", () => {
  expect(Object.keys(SAYS).sort()).toEqual(names.sort());
  expect(names.length).toBeGreaterThanOrEqual(8);
});

test("the index of the examples names each of them", () => {
  const index = readFileSync(join(FOLDER, "README.md"), "utf8");

  expect(names.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

test("their types are right", () => {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");

  expect(() => execFileSync(process.execPath, [tsc, "-p", FOLDER], { encoding: "utf8", stdio: "pipe" })).not.toThrow();
});

describe("without a key", () => {
  test.for(names)("%s tells what it shows, and no budget is passed", async (name) => {
    const said = await run(name);

    expect(said).toContain("Provider: a scripted one on this machine.");
    for (const each of SAYS[name] ?? []) expect(said).toMatch(each);
    expectWithin(said);
  });
});

describe("with a key", () => {
  test.for(names)(
    "%s asks the provider that the environment names, unchanged, and no budget is passed",
    async (name) => {
      await using provider = await openScriptedModel({
        script: () => ({ kind: "text", text: "As you wish.", usage: { prompt_tokens: 40, completion_tokens: 15 } }),
        models: ["gpt-4.1-mini", "claude-haiku-4-5"],
        apiKey: "sk-of-the-test",
      });
      const env = {
        OPENAI_API_KEY: "sk-of-the-test",
        OPENAI_BASE_URL: provider.url,
        ANTHROPIC_API_KEY: "sk-of-the-test",
        ANTHROPIC_BASE_URL: provider.origin,
      };

      const said = await run(name, env);

      expect(said).toContain(`, at ${name.startsWith("anthropic") ? provider.origin : provider.url}, with the key in `);
      expect(said).not.toContain("sk-of-the-test");
      expect(provider.count).toBeGreaterThan(0);
      expectWithin(said);
    },
  );
});
