import {
  type Amount,
  type Amounts,
  defineAgent,
  type Json,
  MemoryStore,
  type Model,
  openBursar,
  type TiersOptions,
} from "bursar";
import { tieredModel } from "bursar/models";
import { measureAsync } from "../measure.js";
import type { Bar, Report } from "../report.js";
import { randomFrom, skewed } from "./chance.js";
import { percent } from "./percent.js";

const RUNS = 400;
const QUICK_RUNS = 60;
const BAR_US = 20;
/** So many choices until the engine has seen what there is to see. */
const WARM_UP = 20_000;
/** What a token of an answer costs, in dollars, and how good the answer is said to be. */
const MODELS: Readonly<Record<string, { readonly usd: number; readonly quality: number }>> = {
  large: { usd: 60e-6, quality: 100 },
  medium: { usd: 15e-6, quality: 85 },
  small: { usd: 3e-6, quality: 60 },
};
/** The most a request allows; most answers are far shorter. */
const MOST_TOKENS = 1500;
/** So much would do for a run of the usual length at the best tier; half of them are longer. */
const LIMIT_USD = 0.5;

const TIERS: TiersOptions["lists"] = {
  auto: { tiers: Object.entries(MODELS).map(([name, { quality }]) => ({ name, model: name, quality })) },
  cheapest: { tiers: [{ name: "small", model: "small" }] },
};

/** Answers as long as the request says it will be, which no real one knows; quotes by the most it allows. */
const PROVIDER: Model = {
  quote: (request) => ({ cost_usd: round(priceOf(request) * MOST_TOKENS), llm_tokens: MOST_TOKENS }),
  call: async (request) => {
    const { tokens, model } = request as { readonly tokens: number; readonly model: string };
    return { value: model, usage: { cost_usd: round(priceOf(request) * tokens), llm_tokens: tokens } };
  },
};

/** One step after the other, each as long as it happens to be. */
const uneven = defineAgent("uneven", async (ctx, { answers, list }: Work) => {
  const asked: string[] = [];
  for (const tokens of answers) asked.push(await ctx.model<string>({ model: `bursar/${list}`, tokens }));
  return asked;
});

interface Work {
  readonly answers: readonly number[];
  readonly list: string;
}

interface Way {
  readonly name: string;
  readonly list: string;
  readonly enabled: boolean;
  /** Whether runs are estimated by those before them. */
  readonly estimated: boolean;
}

const WAYS: readonly Way[] = [
  { name: "off: always the best tier", list: "auto", enabled: false, estimated: true },
  { name: "on, and nothing known of earlier runs", list: "auto", enabled: true, estimated: false },
  { name: "on, with estimates from earlier runs", list: "auto", enabled: true, estimated: true },
  { name: "for comparison: always the cheapest", list: "cheapest", enabled: true, estimated: true },
];

/** What choosing a tier is worth in a tight budget, and how long it takes to choose. */
export async function tiers(quick: boolean): Promise<Report> {
  const works = worksOf(quick ? QUICK_RUNS : RUNS);
  const outcomes: Outcome[] = [];
  for (const way of WAYS) outcomes.push(await simulate(way, works));
  const [off] = outcomes;
  const shown = WAYS.map(({ name, enabled, list }, index): Bar => {
    const { finished, quality, spent, passed } = outcomes[index] as Outcome;
    const better = !enabled || list !== "auto" || finished > (off?.finished ?? 1);
    const measured = `${percent(finished)} of runs finish, quality ${quality.toFixed(1)}, $${spent.toFixed(3)} a run`;
    return { name: `uneven steps in $${LIMIT_USD}, ${name}`, measured, met: better && !passed };
  });
  const chosen = await timed(quick ? 100 : 1000);
  return { tables: [chosen.table], bars: [...shown, chosen.bar] };
}

interface Outcome {
  /** The share of runs that came to their end. */
  readonly finished: number;
  /** Of all answers, those of runs that were stopped too. */
  readonly quality: number;
  readonly spent: number;
  readonly passed: boolean;
}

async function simulate({ list, enabled, estimated }: Way, works: readonly (readonly number[])[]): Promise<Outcome> {
  const asked: string[] = [];
  const model: Model = {
    ...PROVIDER,
    call: (request, options) => {
      asked.push((request as { readonly model: string }).model);
      return PROVIDER.call(request, options);
    },
  };
  await using store = new MemoryStore();
  await using bursar = openBursar({
    store,
    programs: [uneven],
    model: tieredModel(model, { lists: TIERS, enabled }),
    ...(!estimated && { foresight: false }),
  });
  const limits = { cost_usd: LIMIT_USD, steps: null, llm_tokens: null, wall_clock_ms: null };
  let [finished, spent, passed] = [0, 0, false];
  for (const answers of works) {
    const { status, usage } = await bursar.run("uneven", { answers, list }, { limits });
    const cost = Number(usage.cost_usd ?? 0);
    if (status === "completed") finished++;
    spent += cost;
    passed ||= cost > LIMIT_USD;
  }
  const quality = asked.reduce((sum, name) => sum + (MODELS[name]?.quality ?? 0), 0) / asked.length;
  return { finished: finished / works.length, quality, spent: spent / works.length, passed };
}

/** In ledger units: a dollar, and what a run gets unless it says otherwise. */
const LIMITS: Amounts = { cost_usd: 1e9 as Amount, llm_tokens: 100_000 as Amount, steps: 50 as Amount };

/** How long a choice takes, with its quotes and a look at what is left. */
async function timed(rounds: number): Promise<{ readonly table: Report["tables"][number]; readonly bar: Bar }> {
  await using store = new MemoryStore();
  const opening = { id: "timed", scope: "run", grant: { kind: "limits", limits: LIMITS, clamp: false } } as const;
  await store.apply([{ op: "open", parent: null, opening }]);
  const model = tieredModel(PROVIDER, { lists: TIERS });
  const about = { store, budget: "timed", chain: "timed", steps: { median: 20, upper: 40 } };
  const request = { model: "bursar/auto", tokens: 1, messages: [{ role: "user", content: "Well?".repeat(100) }] };
  // From then on it is known what a call costs.
  const first = await model.choose?.(request, about);
  first?.entered();
  first?.used({ cost_usd: 0.001 });
  const choose = async (operations: number) => {
    for (let at = 0; at < operations; at++) (await model.choose?.(request, about))?.entered();
  };
  await choose(WARM_UP);
  const rows = await measureAsync(
    [
      {
        name: "a look at what is left",
        operations: 50,
        run: async (operations) => {
          for (let at = 0; at < operations; at++) await store.path("timed");
        },
      },
      {
        name: "the choice of a tier out of three",
        operations: 50,
        run: choose,
      },
    ],
    rounds,
    () => {},
  );
  const us = (rows[1]?.medianNs ?? Number.NaN) / 1000;
  const bar: Bar = { name: `selection <= ${BAR_US} us per call`, measured: `${us.toFixed(1)} us`, met: us <= BAR_US };
  return { table: { title: "tiers", rows }, bar };
}

function priceOf(request: Json): number {
  const { model } = request as { readonly model: string };
  return MODELS[model]?.usd ?? Number.NaN;
}

function round(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

/** The answers of so many runs: 5 to 60 steps, about 20 of them; most answers short, some ten times as long. The same every time. */
function worksOf(runs: number): readonly (readonly number[])[] {
  const random = randomFrom(11);
  return Array.from({ length: runs }, () => {
    const steps = Math.min(60, Math.max(5, Math.round(skewed(random, 20, 0.4))));
    return Array.from({ length: steps }, () =>
      Math.min(MOST_TOKENS, Math.max(20, Math.round(skewed(random, 350, 0.7)))),
    );
  });
}
