import type { Path } from "../core/budget.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import type { Store } from "../ports/store.js";
import { isInterrupted } from "../runs/claim.js";
import { hasEnded } from "../runs/record.js";
import { denialOf } from "../runs/result.js";
import { dimensionViews, type Prospect, tightestOf } from "./dimension-view.js";
import { prospectOf } from "./prospect.js";
import type { RunBrief } from "./run-brief.js";
import type { RunRow } from "./shapes.js";
import { standingPath } from "./standing.js";

/** A run as it stands in a list. */
export async function runRow(store: Store, run: RunBrief): Promise<RunRow> {
  const [path, prospect, waiting, interrupted] = await Promise.all([
    standingPath(store, run.budget),
    prospectOf(store, run),
    waitingOf(store, run),
    isInterrupted(store, run),
  ]);
  return rowOf(store, run, { path, prospect, waiting, interrupted });
}

/** The same, for who has looked up all of it already. */
export function rowOf(
  { dimensions }: Store,
  run: RunBrief,
  {
    path,
    prospect,
    waiting,
    interrupted,
  }: {
    readonly path: Path;
    readonly prospect: Prospect;
    readonly waiting: readonly string[];
    readonly interrupted: boolean;
  },
): RunRow {
  const { id, status, program, session, parent, started_by, created, ended } = run;
  const [own] = path;
  // What others do with the budgets above is of no concern to a run that is over.
  const counted = hasEnded(run) ? path.slice(0, 1) : path;
  return {
    id,
    status,
    interrupted,
    program: { kind: program.kind, name: program.name },
    session,
    parent,
    started_by,
    created,
    ended,
    usage: own === undefined ? {} : Events.for(dimensions).consumed(own, prospect.time),
    held: own === undefined ? {} : heldIn(own, dimensions),
    denied: denialOf(run),
    tightest: tightestOf(counted.flatMap((budget) => dimensionViews(budget, dimensions, prospect))),
    waiting,
  };
}

/** The requests of a run's own that nobody has answered. */
export async function waitingOf(store: Store, { requests }: RunBrief): Promise<readonly string[]> {
  const documents = await Promise.all(Object.values(requests).map((id) => store.document("approval", id)));
  return documents.flatMap((document) => (document?.status === "pending" ? [document.id] : []));
}
