import type { Budget } from "../core/budget.js";
import type { Store } from "../ports/store.js";
import { silentSince } from "../runs/claim.js";
import type { RunRecord } from "../runs/record.js";
import { rounded } from "./charges.js";
import { dimensionViews } from "./dimension-view.js";
import { type History, historyOf } from "./history.js";
import { type Charge, runningTime } from "./projection.js";
import { chargesBelow, prospectOf } from "./prospect.js";
import type { BurnDown, BurnPoint, DimensionView } from "./shapes.js";
import { standing } from "./standing.js";

/** More points than this nobody can see; those in between are left out. */
const MOST_POINTS = 500;

/** How each limited dimension of a run's budget was used up over time. */
export async function burnDown(store: Store, run: RunRecord): Promise<readonly BurnDown[]> {
  const found = await store.budget(run.budget);
  if (found === null) return [];
  const budget = await standing(store, found);
  const history = await historyOf(store, run);
  const charges = await chargesBelow(store, run, history);
  const prospect = await prospectOf(store, run);
  const end = run.ended ?? (await silentSince(store, run)) ?? prospect.time.instant;
  return dimensionViews(budget, store.dimensions, prospect).map((view) => {
    const points = pointsOf(store, view, { budget, history, charges, end });
    return { ...view, points: thinned(points, MOST_POINTS) };
  });
}

interface Record {
  readonly budget: Budget;
  readonly history: History;
  readonly charges: readonly Charge[];
  readonly end: number;
}

function pointsOf({ dimensions }: Store, view: DimensionView, record: Record): readonly BurnPoint[] {
  const { kind } = dimensions.get(view.dimension);
  const limits = record.history.trail.limits.filter(({ dimension }) => dimension === view.dimension);
  const used = kind === "clock" ? ticks(record, view.used) : cumulated(record.charges, view.dimension, kind === "peak");
  const points = merged(used, limits, view.limit);
  const last = points.at(-1);
  if (last === undefined || last.at < record.end || last.used !== view.used || last.limit !== view.limit) {
    points.push({ at: Math.max(record.end, last?.at ?? record.end), used: view.used, limit: view.limit });
  }
  return points;
}

/** Both as one line, which begins with nothing used. */
function merged(used: readonly Used[], limits: readonly Omit<BurnPoint, "used">[], limit: number): BurnPoint[] {
  const instants = new Set([...used, ...limits].map(({ at }) => at).sort((a, b) => a - b));
  const points: BurnPoint[] = [];
  let [atUsed, atLimit] = [0, 0];
  for (const at of instants) {
    while ((used[atUsed]?.at ?? Number.POSITIVE_INFINITY) <= at) atUsed++;
    while ((limits[atLimit]?.at ?? Number.POSITIVE_INFINITY) <= at) atLimit++;
    const allowed = (limits[atLimit - 1] ?? limits[0])?.limit ?? limit;
    const amount = used[atUsed - 1]?.used ?? 0;
    if (points.length === 0 && amount !== 0) points.push({ at, used: 0, limit: allowed });
    points.push({ at, used: amount, limit: allowed });
  }
  return points;
}

interface Used {
  readonly at: number;
  readonly used: number;
}

function cumulated(charges: readonly Charge[], dimension: string, isPeak: boolean): readonly Used[] {
  const points: Used[] = [];
  let total = 0;
  for (const { at, amounts } of charges) {
    const amount = Number(amounts[dimension] ?? 0);
    if (amount === 0) continue;
    total = isPeak ? Math.max(total, amount) : rounded(total + amount);
    points.push({ at, used: total });
  }
  return points;
}

/**
 * A clock goes straight on while it runs, so its starts and stops say everything. One that was set back to when its worker
 * died has never shown more than it does now.
 */
function ticks({ history: { trail }, end }: Record, now: number): readonly Used[] {
  const { spans } = trail;
  return spans.flatMap(({ from, to }) =>
    [from, to ?? end].map((at) => ({ at, used: Math.min(now, Math.floor(runningTime(spans, at))) })),
  );
}

/** Every so many-th point, and always the first, the last and those at which the limit has changed. */
export function thinned(points: readonly BurnPoint[], most: number): readonly BurnPoint[] {
  if (points.length <= most) return points;
  const every = Math.ceil(points.length / most);
  return points.filter(({ limit }, index) => {
    const isEdge = index === 0 || index === points.length - 1 || points[index - 1]?.limit !== limit;
    return isEdge || index % every === 0;
  });
}
