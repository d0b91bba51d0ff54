import type { Keys } from "../gateway/keys.js";
import type { Store } from "../ports/store.js";
import type { Bursar } from "../runs/bursar.js";
import { type RunRecord, readRun } from "../runs/record.js";
import type { RunView } from "../views/shapes.js";
import { runView } from "../views/views.js";
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

const SEE_RUNS = "GET /api/v1/runs lists those there are";

export async function runOf({ store }: Pick<World, "store">, id: string): Promise<RunRecord> {
  const document = await store.document("run", id);
  if (document === null) throw notThere("run", id, SEE_RUNS);
  return readRun(document);
}

export async function viewOf({ store }: Pick<World, "store">, id: string): Promise<RunView> {
  const view = await runView(store, id);
  if (view === null) throw notThere("run", id, SEE_RUNS);
  return view;
}
