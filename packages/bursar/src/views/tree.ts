import type { Budget } from "../core/budget.js";
import type { Store } from "../ports/store.js";
import { type RunRecord, readRun } from "../runs/record.js";
import { type Position, positionsOf } from "./position.js";
import { standingPath } from "./standing.js";
import type { Story } from "./story.js";

/** A budget on the way from the outermost one to a run. */
export interface BudgetNode {
  readonly budget: string;
  readonly positions: readonly Position[];
}

/** The budgets that a run's calls have to fit into, outermost first. */
export async function budgetsOf(store: Store, { budget }: RunRecord): Promise<readonly BudgetNode[]> {
  const path = await standingPath(store, budget);
  const time = store.clock.now();
  const node = (each: Budget) => ({ budget: each.id, positions: positionsOf([each], store.dimensions, time) });
  return [...path].reverse().map(node);
}

const MOST_CHILDREN = 1000;

/** The runs that a run has started: each is named after the step that did. */
export async function childrenOf(
  store: Store,
  { id }: RunRecord,
  { steps }: Pick<Story, "steps">,
): Promise<readonly RunRecord[]> {
  const children: RunRecord[] = [];
  for (const { number, capability } of steps) {
    if (!capability.startsWith("run:")) continue;
    const document = await store.document("run", `${id}.${number}`);
    if (document !== null) children.push(readRun(document));
    if (children.length === MOST_CHILDREN) break;
  }
  return children;
}
