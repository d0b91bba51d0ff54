import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Execution, Output } from "../ports/program.js";
import type { ApprovalRequest } from "./approval.js";
import { executionOfRun } from "./execution.js";
import type { Failure, RunRecord } from "./record.js";

/** How far a run has come. */
export type RunResult =
  | ({ readonly status: "completed"; readonly result: Json } & Common)
  | ({ readonly status: "failed"; readonly result: Json; readonly failure: Failure } & Common)
  | ({
      readonly status: "cancelled";
      readonly reason: string | null;
      /** By whom and why more budget was denied to it; null when that is not why it has ended. */
      readonly denied: Denial | null;
    } & Common)
  | ({
      readonly status: "paused";
      readonly checkpoint_id: string;
      readonly exhausted_dimension: string | null;
      readonly policy: "approval_required";
      readonly approval_id: string | null;
      /** All requests that wait for an answer, and children that stand still. */
      readonly approvals: readonly string[];
      readonly children: readonly string[];
      /** Model calls that were handed over and are not answered yet. */
      readonly batches: readonly string[];
      /** Why it cannot go on as it is, where nobody is asked anything; null otherwise. */
      readonly problem: string | null;
    } & Common)
  | ({ readonly status: "queued" | "running" } & Common);

interface Common {
  readonly run_id: string;
  /** In edge units. */
  readonly usage: JsonObject;
  readonly output: Output;
  /** What the sandbox says of the program, once it has come to an end there. */
  readonly execution: Execution | null;
}

/** Who has said no to what a run needed. */
export interface Denial {
  readonly by: string;
  readonly reason: string | null;
  readonly dimension: string;
  readonly approval_id: string;
}

/** By whom and why a run was denied what it needed; null when it was not. */
export function denialOf({ cancel }: Pick<RunRecord, "cancel">): Denial | null {
  if (cancel?.denied === undefined) return null;
  const { by, reason, denied } = cancel;
  return { by, reason, ...denied };
}

const UNKNOWN: Failure = { code: "failed", message: "the run failed", data: {}, dimension: null };

/** `requests` are those that somebody has to answer before it goes on, its children's too. */
export function resultOf(run: RunRecord, usage: JsonObject, requests: readonly ApprovalRequest[]): RunResult {
  const common = { run_id: run.id, usage, output: run.output, execution: executionOfRun(run) };
  switch (run.status) {
    case "completed":
      return { ...common, status: "completed", result: run.result };
    case "failed":
      return { ...common, status: "failed", result: run.result, failure: run.failure ?? UNKNOWN };
    case "cancelled":
      return { ...common, status: "cancelled", reason: run.cancel?.reason ?? null, denied: denialOf(run) };
    case "paused": {
      const { checkpoint_id = "", children = [], batches = [], problem = null } = run.pause ?? {};
      const approval_id = requests[0]?.id ?? null;
      const exhausted_dimension = run.pause?.exhausted_dimension ?? requests[0]?.exhausted_dimension ?? null;
      const approvals = requests.map(({ id }) => id);
      const about = { checkpoint_id, exhausted_dimension, approval_id, approvals, children, batches, problem };
      return { ...common, status: "paused", policy: "approval_required", ...about };
    }
    default:
      return { ...common, status: run.status };
  }
}
