import type { Plan } from "../plan.js";

/** What a plan calls the programs of its children. */
export type ChildName = (name: string, child: Plan, index: number) => string;

/** Which plan of a text is being looked through. */
export interface Place {
  readonly plan: Plan;
  /** The name of its program. */
  readonly name: string;
  readonly childName: ChildName;
}
