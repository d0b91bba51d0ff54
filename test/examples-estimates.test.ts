import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import {
  calibration,
  defineTool,
  guestProgram,
  type Json,
  MemoryStore,
  openBursar,
  type Program,
  STANDARD,
  type Tool,
} from "bursar";
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
  readonly tools?: (next: Next, clock: FakeClock) => readonly Tool[];
  readonly input: (next: Next) => Json;
  /** Of a program that asks no model there is nothing to say. */
  readonly answering?: Answering;
  readonly seed: number;
}

/** What was said and what was taken, by dimension, from the eleventh run on; and what the report says of it. */
async function play({ program, tools: toolsOf = () => [], input, answering = silent, seed }: Played) {
  const next = randomOf(seed);
  const clock = new FakeClock();
  const tools = toolsOf(next, clock);
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
  // Nothing is limited but the steps, which some of them look at, and that nowhere near to what they take.
  const limits = { ...Object.fromEntries(STANDARD.all.map(({ id }) => [id, null])), steps: 1000 };
  const figures = new Map<string, Figures[]>();
  for (let run = 0; run < RUNS; run++) {
    const id = `run-${run}`;
    expect(await bursar.run(program, input(next), { id, limits })).toMatchObject({ status: "completed" });
    const past = (await store.document("history", id))?.body as unknown as Past | undefined;
    for (const [dimension, { upper }] of Object.entries(run < FIRST ? {} : (past?.estimate ?? {}))) {
      const all = figures.get(dimension) ?? [];
      figures.set(dimension, [...all, { used: past?.used[dimension] ?? 0, upper }]);
    }
  }
  return { findings: findingsOf(figures), report: await calibration(store) };
}

/**
 * What the share of runs within their 95 % comes to. `as promised`: between 90 and 99 % of them. Where the input leaves a dimension
 * only a handful of values, such as steps have, no bound may have just such a share below it: `to the unit` is one that more keep,
 * and that would be kept by no more than 99 % if it were one unit lower. `never varies`: it is foreseen as it always is.
 */
type Finding = "as promised" | "to the unit" | "never varies" | `wrong: ${string}`;

function findingsOf(figures: ReadonlyMap<string, readonly Figures[]>): Readonly<Record<string, Finding>> {
  return Object.fromEntries([...figures].map(([id, all]) => [id, findingOf(all)]));
}

function findingOf(all: readonly Figures[]): Finding {
  const values = new Set(all.map(({ used }) => used));
  const kept = all.filter(({ used, upper }) => used <= upper).length / all.length;
  const below = all.filter(({ used, upper }) => used < upper).length / all.length;
  if (values.size === 1 && all.every(({ used, upper }) => used === upper)) return "never varies";
  if (kept >= 0.9 && kept <= 0.99) return "as promised";
  if (kept > 0.99 && below <= 0.99) return "to the unit";
  return `wrong: ${kept} of ${all.length} runs are covered, ${below} lie below, with ${values.size} values`;
}

interface Past {
  readonly used: Readonly<Record<string, number>>;
  readonly estimate: Readonly<Record<string, { readonly upper: number }>> | null;
}

const AS_PROMISED = {
  cost_usd: "as promised",
  wall_clock_ms: "as promised",
  llm_tokens: "as promised",
  llm_input_tokens: "as promised",
  llm_output_tokens: "as promised",
  network_egress_bytes: "as promised",
};

const silent: Answering = () => {
  throw new Error("no model is asked");
};

/** From one word to about two hundred and fifty. */
function words(next: Next, word: string): string {
  return word.repeat(Math.ceil(2 ** (8 * next())));
}

function answered(next: Next, typical_tokens: number, text: string | null) {
  const tokens = Math.round(typical_tokens * Math.exp(0.3 * normal(next)));
  return { text: text ?? "word ".repeat(tokens), tokens, ms: Math.round(200 + 10 * tokens * (0.8 + 0.4 * next())) };
}

test.each([
  [1, "to the unit"],
  [2, "as promised"],
] as const)("an agent that drafts and is judged takes what was foreseen, seed %i", async (seed, steps) => {
  const { findings, report } = await play({
    program: review,
    seed,
    input: (next) => ({ subject: words(next, "tea ") }),
    answering: (next, asked) => {
      if (!asked.startsWith("Say OK")) return answered(next, 120, null);
      return answered(next, 20, next() < 0.5 ? "OK" : null);
    },
  });
  expect(findings).toEqual({ ...AS_PROMISED, steps });
  expect(report.filter(({ calibrated }) => calibrated !== "good")).toEqual([]);
});

test("a plan that answers customers takes what was foreseen, in the sandbox", async () => {
  const text = readFileSync(new URL("../examples/plans/support-reply.rtfs", import.meta.url), "utf8");
  const { findings, report } = await play({
    program: planProgram(compilePlan(text, { file: "support-reply.rtfs" }), async () => sandbox),
    seed: 3,
    tools: () =>
      ["crm/find", "payments/refund"].map((name) =>
        defineTool({ name, description: name, input: {}, quote: { cost_usd: 0.001 }, run: () => ANNA }),
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
  expect(findings).toEqual({ ...AS_PROMISED, ...inside, steps: "to the unit" });
  expect(report.filter(({ calibrated }) => calibrated !== "good")).toEqual([]);
});

const { search } = (await import(new URL("../examples/agents/tools.mjs", import.meta.url).href)) as { search: Tool };

/** The tool of the examples, which takes a while. */
function slowSearch(next: Next, clock: FakeClock): Tool {
  return defineTool({
    ...search,
    run: (args, context) => {
      clock.advance(Math.round(100 * Math.exp(0.5 * normal(next))));
      return search.run(args, context);
    },
  });
}

const MEMORY_BYTES = 256 * 1024 * 1024;
const opened = async () => sandbox;

const TOPICS = ["tea", "coffee", "ink", "wool", "paper", "glass", "iron"];

/** Topics to look up, from one to about thirty, some of them twice; the notes know only two of them. */
function topics(next: Next): Json {
  const count = Math.ceil(2 ** (5 * next()));
  return { topics: Array.from({ length: count }, () => TOPICS[Math.floor(TOPICS.length * next())] ?? "tea") };
}

test.each([
  ["python", "research.py", 4],
  ["javascript", "research.js", 5],
] as const)(
  "a program in %s that looks things up takes what was foreseen, in the sandbox",
  async (language, file, seed) => {
    const code = readFileSync(new URL(`../examples/agents/${file}`, import.meta.url), "utf8");
    const { findings, report } = await play({
      program: guestProgram("research", { language, code, packages: [], memory_bytes: MEMORY_BYTES }, opened),
      seed,
      tools: (next, clock) => [slowSearch(next, clock)],
      input: topics,
    });
    const inside = { fuel: "as promised", memory_peak_bytes: "never varies" };
    const { cost_usd, wall_clock_ms } = AS_PROMISED;
    // How many topics there are nearly follows from the size of the input.
    expect(findings).toEqual({ cost_usd, wall_clock_ms, ...inside, steps: "to the unit" });
    expect(report.filter(({ calibrated }) => calibrated !== "good")).toEqual([]);
  },
);
