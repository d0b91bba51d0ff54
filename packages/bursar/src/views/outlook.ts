import type { JsonObject } from "../core/chain/canonical.js";
import type { BudgetView, DimensionView, ExpectedView } from "./shapes.js";

/** What is known of a run that is under way. */
export interface Going {
  readonly now: number;
  /** All that its calls have to fit into. */
  readonly budgets: readonly BudgetView[];
  /** What it was expected to take; empty when nobody knew. */
  readonly expected: readonly ExpectedView[];
  /** What it has used so far, in edge units. */
  readonly usage: JsonObject;
}

/**
 * What lies before a run, in a sentence that is the same on every face: "at this rate cost_usd is exhausted in 40 s, step 17 of about
 * 25". Null when there is nothing to say.
 */
export function outlookOf(going: Going): string | null {
  const progress = progressOf(going);
  const first = firstExhausted(going);
  if (first === null) return progress;
  const { dimension, owner, at } = first;
  const whose = owner === "run" ? "" : ` of ${OWNERS[owner]}`;
  const ends = `at this rate ${dimension}${whose} is exhausted in ${spanOf(at - going.now)}`;
  return progress === null ? ends : `${ends}, ${progress}`;
}

const OWNERS: Readonly<Record<Exclude<BudgetView["owner"], "run">, string>> = {
  session: "its session",
  tenant: "its tenant",
  shared: "a budget that others share",
  parent: "its parent",
};

interface Exhausting {
  readonly dimension: string;
  readonly owner: BudgetView["owner"];
  readonly at: number;
}

/** What is used up first, unless the run is expected to be over by then. */
function firstExhausted(going: Going): Exhausting | null {
  const { now, budgets } = going;
  const end = expectedEnd(going) ?? Number.POSITIVE_INFINITY;
  const all = budgets.flatMap(({ owner, dimensions }) =>
    dimensions.flatMap((view): readonly Exhausting[] => {
      const at = view.exhausted_at;
      if (at === null || at <= now || at > end || view.used >= view.limit) return [];
      return isTelling(view, end) ? [{ dimension: view.dimension, owner, at }] : [];
    }),
  );
  return all.reduce<Exhausting | null>((first, each) => (first === null || each.at < first.at ? each : first), null);
}

/** A clock always goes on at the same rate, which says nothing until somebody knows how long it will take, or half of it is gone. */
function isTelling({ unit, used, limit }: DimensionView, end: number): boolean {
  return unit !== "ms" || Number.isFinite(end) || used * 2 >= limit;
}

/** The instant by which it is over, if it takes as much as 95 of 100 do; null when nobody knows. */
function expectedEnd({ now, expected, usage }: Going): number | null {
  const [ran, steps] = [amountOf(usage.wall_clock_ms), amountOf(usage.steps)];
  const time = expected.find(({ dimension }) => dimension === "wall_clock_ms");
  const count = expected.find(({ dimension }) => dimension === "steps");
  const lefts: number[] = [];
  if (time !== undefined && time.upper > ran) lefts.push(time.upper - ran);
  if (count !== undefined && steps > 0 && count.upper > steps) lefts.push((ran / steps) * (count.upper - steps));
  return lefts.length === 0 ? null : now + Math.max(...lefts);
}

/** How far it has come, by its steps. */
function progressOf({ expected, usage }: Going): string | null {
  const count = expected.find(({ dimension }) => dimension === "steps");
  const steps = amountOf(usage.steps);
  if (count === undefined || steps === 0) return null;
  const [about, most] = [Math.max(1, Math.round(count.median)), Math.ceil(count.upper)];
  if (steps <= about) return `step ${written(steps)} of about ${written(about)}`;
  if (steps <= most) return `step ${written(steps)} of up to ${written(most)}`;
  return `step ${written(steps)}, where up to ${written(most)} were expected`;
}

function amountOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function written(count: number): string {
  return count.toLocaleString("en-US");
}

const SPANS = [
  { unit: "days", length: 86_400_000, from: 172_800_000 },
  { unit: "h", length: 3_600_000, from: 7_200_000 },
  { unit: "min", length: 60_000, from: 120_000 },
] as const;

/** In the unit in which it has at least two. */
function spanOf(ms: number): string {
  const span = SPANS.find(({ from }) => ms >= from) ?? { unit: "s", length: 1000 };
  return `${Math.max(1, Math.round(ms / span.length))} ${span.unit}`;
}
