import { StaleError } from "../../core/document.js";
import type { Store } from "../../ports/store.js";
import { goingOn } from "../../runs/decisions.js";
import { readRun } from "../../runs/record.js";

const MOST_TURNS = 20;

/** Lets a run go on that stands still for one of these calls. */
export async function wake(store: Store, run: string, items: ReadonlySet<string>): Promise<void> {
  for (let turn = 1; ; turn++) {
    const document = await store.document("run", run);
    const { status, pause } = document === null ? { status: "", pause: null } : readRun(document);
    if (status !== "paused" || !(pause?.batches ?? []).some((item) => items.has(item))) return;
    try {
      await store.apply(await goingOn(store, [run]));
      return;
    } catch (error) {
      if (!(error instanceof StaleError) || turn >= MOST_TURNS) throw error;
    }
  }
}
