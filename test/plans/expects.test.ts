import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../packages/bursar/src/core/chain/canonical.js";
import { STANDARD } from "../../packages/bursar/src/core/dimensions.js";
import { compilePlan, planProgram, revivePlan } from "../../packages/bursar/src/plans/plans.js";
import type { Known } from "../../packages/bursar/src/ports/foresight.js";
import type { Model } from "../../packages/bursar/src/ports/model.js";
import { openBursar } from "../../packages/bursar/src/runs/bursar.js";
import { defineTool } from "../../packages/bursar/src/runs/tool.js";
import { MemoryStore } from "../../packages/bursar/src/stores/memory.js";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ cacheFolder: CACHE, workers: 1 });
}, 120_000);
afterAll(() => sandbox[Symbol.asyncDispose]());

const ANSWERS: Record<string, Json> = {
  "crm/find": { id: 7, name: "Anna" },
  "payments/refund": { ok: true },
  "web/search": { hits: [{ url: "http://a" }, { url: "http://b" }] },
  "web/fetch": { text: "a text" },
  "books/invoices": { invoices: [], next: null },
};
const tools = Object.entries(ANSWERS).map(([name, answer]) =>
  defineTool({ name, description: name, input: {}, quote: { cost_usd: 0.001 }, run: () => answer }),
);
const model: Model = {
  quote: () => ({ llm_input_tokens: 60, llm_output_tokens: 40 }),
  call: async () => ({
    value: { text: JSON.stringify({ kind: "refund", amount: 15 }) },
    usage: { input_tokens: 60, output_tokens: 40 },
  }),
};

const known: Known = {
  dimensions: STANDARD,
  tool: (name) => (name in ANSWERS ? { cost_usd: 0.001 } : null),
  model: async (request) => model.quote(request),
  program: async () => null,
};

async function expectedAndPlayed(name: string, input: Json) {
  const text = readFileSync(new URL(`../../examples/plans/${name}.rtfs`, import.meta.url), "utf8");
  const program = planProgram(compilePlan(text, { file: `${name}.rtfs` }), async () => sandbox);
  const opinion = await program.expects?.(input, known);
  const bursar = openBursar({ store: new MemoryStore(), tools, model, programs: [program] });
  const limits = Object.fromEntries(STANDARD.all.map(({ id }) => [id, null]));
  const { status, usage } = await bursar.run(program, input, { limits });
  return { opinion, status, usage: usage as Record<string, number>, program };
}

test("the plan that answers customers says what it takes, and takes no more in the sandbox", async () => {
  const input = { message: "my kettle leaks", "customer-id": 7 };
  const { opinion, status, usage } = await expectedAndPlayed("support-reply", input);
  expect(opinion).toMatchObject({
    dimensions: { steps: { median: 4, upper: 4 }, cost_usd: { median: 1_500_000, upper: 2_000_000 } },
    about: expect.stringContaining("at most 2 tool calls, 2 model calls"),
  });
  expect([status, usage.steps, usage.cost_usd]).toEqual(["completed", 4, 0.002]);
});

test("the plan that researches is bounded by the budgets of its children", async () => {
  const input = { topic: "kettles", questions: ["good?", "bad?"] };
  const { opinion, status, usage } = await expectedAndPlayed("research", input);
  // Two children with a start and at most six steps each, and the summary.
  expect(opinion?.dimensions).toMatchObject({
    steps: { upper: 15 },
    subcalls: { median: 2, upper: 2 },
    depth: { upper: 1 },
  });
  expect([status, usage.steps, usage.subcalls]).toEqual(["completed", 11, 2]);
});

test("the plan that turns pages says that it does not know how many there are", async () => {
  const { opinion, program } = await expectedAndPlayed("invoices", { cursor: null });
  expect(opinion?.dimensions).toEqual({});
  expect(opinion?.about).toMatch(/the loop at \d+:\d+ has no known length/);
  // As another process knows it.
  const revived = revivePlan(program, async () => sandbox);
  expect(await revived?.expects?.({ cursor: null }, known)).toEqual(opinion);
});
