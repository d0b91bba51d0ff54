import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { calibration, defineTool, type Json, MemoryStore, openBursar, type Program, STANDARD, type Tool } from "bursar";
import { chatModel } from "bursar/models";
import { compilePlan, planProgram } from "bursar/plans";
import { FakeClock, openScriptedModel, type Script } from "bursar/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { review } from "../examples/agents/review.js";
import { normal } from "../packages/bursar/test/foresight/normal.js";
import { randomOf } from "../packages/bursar/test/stores/seeds.js";

/*
 * The programs of this repository, run again and again with inputs of any size against a scripted provider over HTTP, each run
 * estimated before it begins as anybody's is. What runs have taken is compared with what was said before.
 */

const RUNS = 140;
/** From the eleventh run on there is a past to go by. */
const FIRST = 10;
const PRICES = { small: { input_usd_per_mtok: 0.4, output_usd_per_mtok: 1.6 } };
const CACHE = fileURLToPath(new URL("../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ cacheFolder: CACHE, workers: 1 });
}, 120_000);
afterAll(() => sandbox[Symbol.asyncDispose]());

type Next = () => number;
const ANNA = { id: 7, name: "Anna" };

/** What is answered, by what was asked and by chance; and how long it takes, in milliseconds. */
type Answering = (next: Next, asked: string) => { readonly text: string; readonly tokens: number; readonly ms: number };

interface Figures {
  readonly used: number;
  readonly upper: number;
}

interface Played {
  readonly program: Program;
  readonly tools?: readonly Tool[];
  readonly input: (next: Next) => Json;
  readonly answering: Answering;
  readonly seed: number;
}

/** What was said and what was taken, by dimension, from the eleventh run on; and what the report says of it. */
async function play({ program, tools = [], input, answering, seed }: Played) {
  const next = randomOf(seed);
  const clock = new FakeClock();
  const script: Script = ({ text }) => {
    const { text: answer, tokens, ms } = answering(next, text);
    clock.advance(ms);
    const usage = { prompt_tokens: Math.ceil(text.length / 4), completion_tokens: Math.min(300, Math.max(1, tokens)) };
    return { kind: "text", text: answer, usage };
  };
  await using server = await openScriptedModel({ script, models: ["small"], keep: 0 });
  const store = new MemoryStore({ clock });
  const model = chatModel({ url: server.url, model: "small", prices: PRICES });
  await using bursar = openBursar({ store, timer: clock, model, tools, programs: [program] });
  const limits = Object.fromEntries(STANDARD.all.map(({ id }) => [id, null]));
  const figures = new Map<string, Figures[]>();
  for (let run = 0; run < RUNS; run++) {
    const id = `run-${run}`;
    const { status } = await bursar.run(program, input(next), { id, limits });
    expect(status).toBe("completed");
    const past = (await store.document("history", id))?.body as unknown as Past | undefined;
    for (const [dimension, { upper }] of Object.entries(run < FIRST ? {} : (past?.estimate ?? {}))) {
      const all = figures.get(dimension) ?? [];
      figures.set(dimension, [...all, { used: past?.used[dimension] ?? 0, upper }]);
    }
  }
  return { findings: findingsOf(figures), report: await calibration(store) };
}

/**
 * What the share of runs within their 95 % comes to. `as promised`: between 90 and 99 % of them. Of a dimension with a handful of
 * values, such as steps, no bound may have just such a share below it: `exact` is one that 90 % do not pass, and more than 1 %
 * reach. `never varies`: it is foreseen as it always is, and so always covered.
 */
type Finding = "as promised" | "exact" | "never varies" | `wrong: ${string}`;

function findingsOf(figures: ReadonlyMap<string, readonly Figures[]>): Readonly<Record<string, Finding>> {
  return Object.fromEntries([...figures].map(([id, all]) => [id, findingOf(all)]));
}

const A_HANDFUL = 8;

function findingOf(all: readonly Figures[]): Finding {
  const values = new Set(all.map(({ used }) => used));
  const kept = all.filter(({ used, upper }) => used <= upper).length / all.length;
  const below = all.filter(({ used, upper }) => used < upper).length / all.length;
  if (values.size === 1 && all.every(({ used, upper }) => used === upper)) return "never varies";
  if (values.size <= A_HANDFUL && kept >= 0.9 && below <= 0.99) return "exact";
  if (values.size > A_HANDFUL && kept >= 0.9 && kept <= 0.99) return "as promised";
  return `wrong: ${kept} of ${all.length} runs are covered, ${below} lie below, with ${values.size} values`;
}

interface Past {
  readonly used: Readonly<Record<string, number>>;
  readonly estimate: Readonly<Record<string, { readonly upper: number }>> | null;
}

const AS_PROMISED = {
  ...{ cost_usd: "as promised", wall_clock_ms: "as promised", llm_tokens: "as promised" },
  ...{ llm_input_tokens: "as promised", llm_output_tokens: "as promised" },
};

/** From one word to about two hundred and fifty. */
function words(next: Next, word: string): string {
  return word.repeat(Math.ceil(2 ** (8 * next())));
}

function answered(next: Next, typical_tokens: number, text: string | null) {
  const tokens = Math.round(typical_tokens * Math.exp(0.3 * normal(next)));
  return { text: text ?? "word ".repeat(tokens), tokens, ms: Math.round(200 + 10 * tokens * (0.8 + 0.4 * next())) };
}

test.each([1, 2])("an agent that drafts and is judged takes what was foreseen, seed %i", async (seed) => {
  const { findings, report } = await play({
    ...{ program: review, seed },
    input: (next) => ({ subject: words(next, "tea ") }),
    answering: (next, asked) => {
      if (!asked.startsWith("Say OK")) return answered(next, 120, null);
      return answered(next, 20, next() < 0.5 ? "OK" : null);
    },
  });
  expect(findings).toEqual({ ...AS_PROMISED, steps: "exact" });
  expect(report.filter(({ calibrated }) => calibrated !== "good")).toEqual([]);
});

test("a plan that answers customers takes what was foreseen, in the sandbox", async () => {
  const text = readFileSync(new URL("../examples/plans/support-reply.rtfs", import.meta.url), "utf8");
  const { findings, report } = await play({
    ...{ program: planProgram(compilePlan(text, { file: "support-reply.rtfs" }), async () => sandbox), seed: 3 },
    tools: ["crm/find", "payments/refund"].map((name) =>
      defineTool({ ...{ name, description: name, input: {}, quote: { cost_usd: 0.001 } }, run: () => ANNA }),
    ),
    input: (next) => ({ message: words(next, "my kettle leaks "), "customer-id": 7 }),
    answering: (next, asked) => {
      if (!asked.startsWith("Reply with JSON")) return answered(next, 90, null);
      const kind = next() < 0.6 ? "refund" : "question";
      return answered(next, 30, JSON.stringify({ kind, amount: Math.round(30 * next()) }));
    },
  });
  // A guest of this size never needs more memory than it begins with.
  const inside = { fuel: "as promised", memory_peak_bytes: "never varies" };
  expect(findings).toEqual({ ...AS_PROMISED, ...inside, steps: "exact" });
  expect(report.filter(({ calibrated }) => calibrated !== "good")).toEqual([]);
});
