import { writeAmount } from "../core/dimension.js";
import type { Document } from "../core/document.js";
import type { Store } from "../ports/store.js";
import { hasEnded, type RunStatus, UNENDED } from "../runs/record.js";
import { rounded } from "./charges.js";
import { historyOf } from "./history.js";
import { latest } from "./latest.js";
import { listApprovals, RUN_STATUSES } from "./lists.js";
import { savedBelow } from "./prospect.js";
import { BRIEF, type RunBrief, readBrief } from "./run-brief.js";
import { runRow } from "./run-row.js";
import { savedByKeys } from "./savings.js";
import type { Overview, Page } from "./shapes.js";

const MOST_WAITING = 50;
const MOST_ACTIVE = 50;
const MOST_RECENT = 10;
/** So many runs of each status are summed up. */
const MOST_SUMMED = 500;

/** What is running, spending and waiting. Of runs below others, only what waits for somebody is shown. */
export async function overview(store: Store): Promise<Overview> {
  const found = await Promise.all(UNENDED.map((status) => runsOf(store, status)));
  const active = found.flatMap(({ items }) => items);
  const shown = active.slice(0, MOST_ACTIVE);
  const [runs, taken, waiting, { pending = 0 }, recent] = await Promise.all([
    countsOf(store),
    takenBy(store, active),
    listApprovals(store, { status: "pending", limit: MOST_WAITING }),
    store.counts("approval"),
    recentOf(store),
  ]);
  return {
    runs,
    ...taken,
    saved_usd: await savedBy(store, [...shown, ...recent]),
    waiting: waiting.items,
    waiting_count: Math.max(pending, waiting.items.length),
    active_count: active.length,
    active_more: found.some(({ next }) => next !== null),
    active: await Promise.all(shown.map((run) => runRow(store, run))),
    recent: await Promise.all(recent.map((run) => runRow(store, run))),
  };
}

async function countsOf(store: Store): Promise<Overview["runs"]> {
  const counts = Object.fromEntries(RUN_STATUSES.map((status) => [status, 0])) as Record<RunStatus, number>;
  return { ...counts, ...(await store.counts("run")) };
}

function runsOf(store: Store, status: RunStatus): Promise<Page<RunBrief>> {
  return latest(store, { kind: "run", status, limit: MOST_SUMMED, only: BRIEF, read: readRoot });
}

async function recentOf(store: Store): Promise<readonly RunBrief[]> {
  const read = (document: Document) => {
    const run = readRoot(document);
    return run !== null && hasEnded(run) ? run : null;
  };
  return (await latest(store, { kind: "run", limit: MOST_RECENT, only: BRIEF, read })).items;
}

function readRoot(document: Document): RunBrief | null {
  const run = readBrief(document);
  return run.parent === null ? run : null;
}

/** What these runs have used, with all that is below them, and apart from that what is held for their calls. */
async function takenBy(store: Store, runs: readonly RunBrief[]): Promise<Pick<Overview, "spending" | "held">> {
  const budgets = await Promise.all(runs.map(({ budget }) => store.budget(budget)));
  const spending: Record<string, number> = {};
  const held: Record<string, number> = {};
  for (const dimension of store.dimensions.all) {
    if (dimension.kind !== "sum") continue;
    const { id } = dimension;
    const used = budgets.reduce((sum, budget) => sum + (budget?.used[id] ?? 0), 0);
    const reserved = budgets.reduce((sum, budget) => sum + (budget?.reserved[id] ?? 0), 0);
    if (used > 0) spending[id] = writeAmount(dimension, used);
    if (reserved > 0) held[id] = writeAmount(dimension, reserved);
  }
  return { spending, held };
}

async function savedBy(store: Store, runs: readonly RunBrief[]): Promise<number> {
  const ofRuns = runs.map(async (run) => savedBelow(store, run, await historyOf(store, run)));
  const all = await Promise.all([savedByKeys(store), ...ofRuns]);
  return rounded(all.reduce((sum, each) => sum + each, 0));
}
