import { type RunRecord, readRun, type Store } from "bursar";

const DEEPEST = 100;

/** The run at the top of a run's ancestors, which has to be driven when something below it moves. */
export async function rootOf(store: Store, run: RunRecord): Promise<RunRecord> {
  let root = run;
  for (let depth = 0; root.parent !== null && depth < DEEPEST; depth++) {
    const document = await store.document("run", root.parent);
    if (document === null) break;
    root = readRun(document);
  }
  return root;
}
