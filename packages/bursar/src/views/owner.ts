import type { RunRecord } from "../runs/record.js";
import type { BudgetView } from "./shapes.js";

/** What a budget on the path of a run is to that run: ids are long, and on a run's own page they say little. */
export function ownerOf(owner: string, { id, budget }: Pick<RunRecord, "budget" | "id">): BudgetView["owner"] {
  if (owner === id) return "run";
  if (owner.startsWith("session:tenant:")) return "tenant";
  if (owner.startsWith("session:")) return "session";
  return owner === budget ? "shared" : "parent";
}
