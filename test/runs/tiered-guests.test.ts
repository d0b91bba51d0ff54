import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatModel } from "../../packages/bursar/src/models/chat/chat.js";
import { compilePlan } from "../../packages/bursar/src/plans/plans.js";
import { openBursar } from "../../packages/bursar/src/runs/bursar.js";
import { guestProgram } from "../../packages/bursar/src/runs/guest.js";
import { MemoryStore } from "../../packages/bursar/src/stores/memory.js";
import { openScriptedModel } from "../../packages/bursar/src/testing/scripted-model.js";
import { ANSWER, PRICES, switchesIn, tiersOf } from "../../packages/bursar/test/models/tiers/scene.js";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ cacheFolder: CACHE, workers: 1 });
}, 120_000);
afterAll(() => sandbox[Symbol.asyncDispose]());

const PYTHON = `
said = []
for turn in range(6):
    answer = await host.llm({"model": "bursar/auto", "prompt": "Hello?", "max_tokens": 1000})
    said.append(answer["model"])
await host.call("result", said)
`;
const JAVASCRIPT = `
const said = [];
for (let turn = 0; turn < 6; turn++) {
  const answer = await host.llm({ model: "bursar/auto", prompt: "Hello?", max_tokens: 1000 });
  said.push(answer.model);
}
await host.call("result", said);
`;
const ASK = '(call :llm/ask {:model "bursar/auto" :prompt "Hello?" :max_tokens 1000})';
const PLAN = `(run :name "asks" :body (map :model [${Array(6).fill(ASK).join(" ")}]))`;

const plain = { packages: [], memory_bytes: 64 * 1024 * 1024 };
const SOURCES = {
  python: { ...plain, language: "python", code: PYTHON },
  javascript: { ...plain, language: "javascript", code: JAVASCRIPT },
  plan: { ...plain, language: "javascript", code: compilePlan(PLAN).code },
} as const;

test.each(["python", "javascript", "plan"] as const)(
  "a %s program that leaves its model open goes to cheaper tiers when money gets short, and its chain says so",
  async (name) => {
    await using provider = await openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
    const model = chatModel({ url: provider.url, model: "gpt-4-large", prices: PRICES, tiers: tiersOf() });
    const store = new MemoryStore();
    const program = guestProgram(name, SOURCES[name], async () => sandbox);
    await using bursar = openBursar({ store, model, programs: [program] });

    const limits = { cost_usd: 0.2, wall_clock_ms: null };
    const result = await bursar.run(name, null, { id: "r", limits });

    expect(result).toMatchObject({ status: "completed" });
    const said = "result" in result ? result.result : null;
    expect(said).toHaveLength(6);
    expect(said).toEqual(provider.requests.map(({ body }) => (body as { model?: unknown }).model));
    expect(new Set(said as string[]).size).toBeGreaterThan(1);
    const switches = await switchesIn(store, "r");
    expect(switches[0]).toMatchObject({ from: null, to: { model: "gpt-4-large" }, reason: "first" });
    expect(switches.length).toBeGreaterThan(1);
    expect(Number((await store.budget("r"))?.used.cost_usd)).toBeLessThanOrEqual(200_000_000);
  },
);
