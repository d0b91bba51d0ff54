import type { Document } from "../core/document.js";
import type { Store } from "../ports/store.js";
import { hasEnded, UNENDED } from "../runs/record.js";
import { sessionBudget } from "../runs/session-budget.js";
import { dimensionViews } from "./dimension-view.js";
import { latest } from "./latest.js";
import { ownerOf } from "./owner.js";
import type { Rates } from "./projection.js";
import { prospectOf } from "./prospect.js";
import { BRIEF, type RunBrief, readBrief } from "./run-brief.js";
import type { SessionView } from "./shapes.js";

/** The sessions of so many runs are shown, the latest ones and all of those that have not ended. */
const MOST_RUNS = 500;

interface Group {
  readonly runs: RunBrief[];
}

/** The budgets that runs share: sessions, and the tenants above them. A session that no run was ever started in is not known. */
export async function sessionViews(store: Store): Promise<readonly SessionView[]> {
  const groups = new Map<string, Group>();
  for (const run of await someRuns(store)) {
    if (run.session === null) continue;
    const group = groups.get(run.session) ?? { runs: [] };
    groups.set(run.session, group);
    group.runs.push(run);
  }
  const views = await Promise.all([...groups].map(([session, { runs }]) => sessionView(store, session, runs)));
  return views.filter((view) => view !== null);
}

async function someRuns(store: Store): Promise<readonly RunBrief[]> {
  const pages = [undefined, ...UNENDED].map((status) => {
    const read = (document: Document) => {
      const run = readBrief(document);
      return run.parent === null ? run : null;
    };
    return latest(store, { kind: "run", status, limit: MOST_RUNS, only: BRIEF, read });
  });
  const found = (await Promise.all(pages)).flatMap(({ items }) => items);
  return [...new Map(found.map((run) => [run.id, run])).values()];
}

async function sessionView(store: Store, session: string, runs: readonly RunBrief[]): Promise<SessionView | null> {
  const budget = await store.budget(sessionBudget(session));
  if (budget === null) return null;
  const time = store.clock.now();
  const rates = await ratesTogether(store, runs);
  const prospect = { time, rates, exhausted: () => lastUse(runs, time.instant) };
  return {
    session,
    budget: {
      budget: budget.id,
      owner: ownerOf(budget.id, { id: "", budget: "" }),
      dimensions: dimensionViews(budget, store.dimensions, prospect),
    },
    runs: runs.length,
    active: runs.filter((run) => !hasEnded(run)).length,
  };
}

/** What all of its runs use together while they run. */
async function ratesTogether(store: Store, runs: readonly RunBrief[]): Promise<Rates | null> {
  const running = runs.filter(({ status }) => status === "running");
  const prospects = await Promise.all(running.map((run) => prospectOf(store, run)));
  const all = prospects.flatMap(({ rates }) => (rates === null ? [] : [rates]));
  if (all.length === 0) return null;
  const per_ms: Record<string, number> = {};
  for (const rates of all) {
    for (const [dimension, rate] of Object.entries(rates.per_ms)) per_ms[dimension] = (per_ms[dimension] ?? 0) + rate;
  }
  return { running_ms: Math.max(...all.map(({ running_ms }) => running_ms)), per_ms };
}

function lastUse(runs: readonly RunBrief[], now: number): number {
  const instants = runs.map(({ ended, pause }) => ended ?? pause?.at ?? now);
  return instants.length === 0 ? now : Math.max(...instants);
}
