import type { JsonObject } from "../core/chain/canonical.js";
import { writeAmount } from "../core/dimension.js";
import type { Document } from "../core/document.js";
import type { Store } from "../ports/store.js";
import { hasEnded, type RunStatus, UNENDED } from "../runs/record.js";
import { latest } from "./latest.js";
import { listApprovals, RUN_STATUSES } from "./lists.js";
import { BRIEF, type RunBrief, readBrief } from "./run-brief.js";
import { runRow } from "./run-row.js";
import type { Overview } from "./shapes.js";

const MOST_WAITING = 50;
const MOST_ACTIVE = 50;
const MOST_RECENT = 10;
/** So many runs of each status are summed up. */
const MOST_SUMMED = 500;

/** What is running, spending and waiting. Of runs below others, only what waits for somebody is shown. */
export async function overview(store: Store): Promise<Overview> {
  const active = (await Promise.all(UNENDED.map((status) => runsOf(store, status)))).flat();
  const [runs, spending, waiting, recent] = await Promise.all([
    countsOf(store),
    spendingOf(store, active),
    listApprovals(store, { status: "pending", limit: MOST_WAITING }),
    recentOf(store),
  ]);
  return {
    ...{ runs, spending, waiting: waiting.items },
    active: await Promise.all(active.slice(0, MOST_ACTIVE).map((run) => runRow(store, run))),
    recent: await Promise.all(recent.map((run) => runRow(store, run))),
  };
}

async function countsOf(store: Store): Promise<Overview["runs"]> {
  const counts = Object.fromEntries(RUN_STATUSES.map((status) => [status, 0])) as Record<RunStatus, number>;
  return { ...counts, ...(await store.counts("run")) };
}

async function runsOf(store: Store, status: RunStatus): Promise<readonly RunBrief[]> {
  const { items } = await latest(store, { kind: "run", status, limit: MOST_SUMMED, only: BRIEF, read: readRoot });
  return items;
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

/** What these runs have used, with all that is below them. */
async function spendingOf(store: Store, runs: readonly RunBrief[]): Promise<JsonObject> {
  const budgets = await Promise.all(runs.map(({ budget }) => store.budget(budget)));
  const spending: Record<string, number> = {};
  for (const dimension of store.dimensions.all) {
    if (dimension.kind !== "sum") continue;
    const used = budgets.reduce((sum, budget) => sum + (budget?.used[dimension.id] ?? 0), 0);
    if (used > 0) spending[dimension.id] = writeAmount(dimension, used);
  }
  return spending;
}
