import type { Path } from "../core/budget.js";
import { Events } from "../core/events.js";
import type { Store } from "../ports/store.js";
import { isInterrupted } from "../runs/claim.js";
import { type RunRecord, readRun } from "../runs/record.js";
import { dimensionViews, type Prospect } from "./dimension-view.js";
import { expectedIn } from "./expected.js";
import { outlookOf } from "./outlook.js";
import { ownerOf } from "./owner.js";
import { prospectOf } from "./prospect.js";
import type { BudgetView } from "./shapes.js";

/** What lies before a run as it stands now, in a sentence; null unless it is under way and there is something to say. */
export async function runOutlook(store: Store, id: string): Promise<string | null> {
  const document = await store.document("run", id);
  if (document === null || document.status !== "running") return null;
  const run = readRun(document);
  if (await isInterrupted(store, run)) return null;
  const [path, prospect] = await Promise.all([store.path(run.budget), prospectOf(store, run)]);
  return outlookIn(store, run, path, prospect);
}

/** The same, for who has looked up all of it already. */
export function outlookIn({ dimensions }: Store, run: RunRecord, path: Path, prospect: Prospect): string | null {
  const [own] = path;
  if (run.status !== "running" || own === undefined) return null;
  return outlookOf({
    now: prospect.time.instant,
    budgets: budgetViews({ dimensions }, run, path, prospect),
    expected: expectedIn(run.estimate, dimensions),
    usage: Events.for(dimensions).consumed(own, prospect.time),
  });
}

/** The budgets that a run's calls have to fit into, outermost first. */
export function budgetViews(
  { dimensions }: Pick<Store, "dimensions">,
  run: RunRecord,
  path: Path,
  prospect: Prospect,
): readonly BudgetView[] {
  return path.toReversed().map((budget) => ({
    budget: budget.id,
    owner: ownerOf(budget.id, run),
    dimensions: dimensionViews(budget, dimensions, prospect),
  }));
}
