import { type ApprovalRequest, type Bursar, openBursar, RunError, type RunRecord, type Store } from "bursar";
import type { Configuration } from "bursar/config";
import type { Terminal } from "../terminal.js";
import { webhookOf } from "./place.js";
import { readApproval, readRun } from "./records.js";

const LOOK_MS = 50;
const DEEPEST = 100;

/** Decides over a request and leaves the driving to whoever has the programs. */
export async function decideOnly(
  { store, config }: { readonly store: Store; readonly config: Configuration },
  terminal: Terminal,
  request: ApprovalRequest,
  decide: (bursar: Bursar) => Promise<unknown>,
): Promise<ApprovalRequest> {
  const webhook = webhookOf(config, terminal);
  await using bursar = openBursar({ store, ...(webhook !== undefined && { webhook }) });
  let failure: { readonly error: unknown } | null = null;
  let over = false;
  // It knows no programs, so it can drive nothing: whoever tries to find one comes too late, the decision is written.
  const deciding = decide(bursar).catch((error: unknown) => {
    if (!(error instanceof RunError) || error.code !== "unknown_program") failure = { error };
  });
  void deciding.finally(() => {
    over = true;
  });
  for (;;) {
    const document = await store.document("approval", request.id);
    if (document !== null && document.status !== "pending") return readApproval(document);
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    if (over) return request;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

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
