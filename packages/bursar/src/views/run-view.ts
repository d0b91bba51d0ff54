import type { Store } from "../ports/store.js";
import { claimOf, isInterrupted } from "../runs/claim.js";
import { executionOfRun } from "../runs/execution.js";
import { hasEnded, readRun } from "../runs/record.js";
import { type RunWithRequests, runWithRequests } from "../runs/run-with-requests.js";
import { approvalView } from "./approval-view.js";
import { expectedIn } from "./expected.js";
import { historyOf } from "./history.js";
import { prospectOf, savedBelow } from "./prospect.js";
import { budgetViews, outlookIn } from "./run-outlook.js";
import { rowOf, runRow, waitingOf } from "./run-row.js";
import type { RunView } from "./shapes.js";
import { standingPath } from "./standing.js";
import { childrenOf } from "./tree.js";

/** So many of the runs below a run are shown with it, the last ones. */
const MOST_CHILDREN = 200;

/** Everything there is to see of a run; null when there is none of this id. */
export async function runView(store: Store, id: string): Promise<RunView | null> {
  const document = await store.document("run", id);
  return document === null ? null : viewOf(store, await runWithRequests(store, readRun(document)));
}

async function viewOf(store: Store, { run, requests }: RunWithRequests): Promise<RunView> {
  const history = await historyOf(store, run);
  const [path, prospect, waiting, interrupted, head, claim] = await Promise.all([
    standingPath(store, run.budget),
    prospectOf(store, run),
    waitingOf(store, run),
    isInterrupted(store, run),
    store.head(run.budget),
    claimOf(store, run.id),
  ]);
  const steps = history.story.steps();
  const refused = steps.filter(({ state }) => state === "refused" || state === "released").length;
  const children = await childrenOf(store, run, { steps });
  const { budget, depth, input, result, failure, cancel, pause, output, terms = {} } = run;
  const row = rowOf(store, run, { path, prospect, waiting, interrupted });
  const isDriven = claim.worker !== null && !hasEnded(run);
  return {
    ...row,
    digest: run.program.digest,
    budget,
    terms,
    depth,
    input,
    result,
    failure,
    cancel,
    pause,
    output,
    execution: executionOfRun(run),
    budgets: budgetViews(store, run, path, prospect),
    children: await Promise.all(children.slice(-MOST_CHILDREN).map((child) => runRow(store, child))),
    requests: await Promise.all(requests.map((request) => approvalView(store, request))),
    // The chain of an old run may be in a file by now; its budget still knows how many there were.
    steps: history.archived ? Number(row.usage.steps ?? 0) : steps.length - refused,
    refused,
    links: (head?.seq ?? -1) + 1,
    expected: expectedIn(run.estimate, store.dimensions),
    outlook: interrupted ? null : outlookIn(store, run, path, prospect),
    saved_usd: await savedBelow(store, run, history),
    worker: isDriven ? { name: String(claim.worker), expires: claim.expires } : null,
    missing: [],
  };
}
