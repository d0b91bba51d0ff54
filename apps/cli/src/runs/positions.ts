import type { RunRecord, Store } from "bursar";
import { type Position, positionsOf } from "../demo/position.js";

/** Where a run stands with every limit that counts for it, each said to be whose it is. */
export async function positionsFor(
  store: Store,
  { budget, id }: Pick<RunRecord, "budget" | "id">,
): Promise<readonly Position[]> {
  const path = await store.path(budget);
  return positionsOf(path, store.dimensions, store.clock.now()).map((position) => {
    return { ...position, budget: ownerOf(position.budget, id, budget) };
  });
}

/** Ids are long, and on a run's own page they say little. */
function ownerOf(owner: string, run: string, budget: string): string {
  if (owner === run) return "run";
  if (owner.startsWith("session:tenant:")) return "tenant";
  if (owner.startsWith("session:")) return "session";
  return owner === budget ? "shared" : "parent";
}
