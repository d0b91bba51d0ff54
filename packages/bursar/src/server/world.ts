import type { Keys } from "../gateway/keys.js";
import type { Store } from "../ports/store.js";
import type { Bursar } from "../runs/bursar.js";
import { type RunRecord, readRun } from "../runs/record.js";
import type { ApprovalView, BudgetView, RunView } from "../views/shapes.js";
import { budgetView, runView } from "../views/views.js";
import type { Changes } from "./changes.js";
import type { Failures } from "./failures.js";
import { notThere } from "./http-error.js";
import type { Metrics } from "./metrics.js";
import type { ServerSettings } from "./options.js";
import type { Pace } from "./pace.js";
import type { Shared } from "./shared.js";
import type { Streams } from "./streams.js";
import type { Tokens } from "./tokens.js";
import type { Visitors } from "./visitors.js";

/** What routes need in order to serve. */
export interface World {
  readonly settings: ServerSettings;
  readonly store: Store;
  readonly bursar: Bursar;
  readonly tokens: Tokens;
  readonly keys: Keys;
  readonly visitors: Visitors;
  readonly streams: Streams;
  readonly changes: Changes;
  readonly metrics: Metrics;
  readonly failures: Failures;
  /** Runs as texts. Many may look at one, and are told of a change at the same moment. */
  readonly views: Shared<string>;
  /** For those who may be guessing. */
  readonly strict: Pace;
  /** Fires when the server is about to end. */
  readonly ending: AbortSignal;
}

export const SEE_BUDGETS = "GET /api/v1/sessions and GET /api/v1/keys name budgets; a run's own has the id of the run";
const SEE_RUNS = "GET /api/v1/runs lists those there are";

export async function runOf({ store }: Pick<World, "store">, id: string): Promise<RunRecord> {
  const document = await store.document("run", id);
  if (document === null) throw notThere("run", id, SEE_RUNS);
  return readRun(document);
}

/** How a budget stands, whoever it belongs to. */
export async function budgetOf({ store }: Pick<World, "store">, id: string): Promise<BudgetView> {
  const view = await budgetView(store, id);
  if (view === null) throw notThere("budget", id, SEE_BUDGETS);
  return view;
}

/** A run, with what this process lacks to go on with it. */
export async function viewOf({ store, bursar }: Pick<World, "store" | "bursar">, id: string): Promise<RunView> {
  const view = await runView(store, id);
  if (view === null) throw notThere("run", id, SEE_RUNS);
  const requests = await Promise.all(view.requests.map((request) => withMissing(bursar, request)));
  return { ...view, requests, missing: await bursar.missingFor(id) };
}

/** A request, with what this process lacks to go on with the run that waits for it. */
export async function withMissing(bursar: Bursar, request: ApprovalView): Promise<ApprovalView> {
  if (request.status !== "pending" || request.run === null) return request;
  return { ...request, missing: await bursar.missingFor(request.run) };
}
