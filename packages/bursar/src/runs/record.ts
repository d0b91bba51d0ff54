import type { BudgetId } from "../core/budget.js";
import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Document } from "../core/document.js";
import type { Operation, PutOperation } from "../core/operation.js";
import type { Estimate } from "../foresight/estimate.js";
import type { PreflightPolicy } from "../foresight/preflight.js";
import type { Execution, Output } from "../ports/program.js";
import type { WrittenError } from "./error.js";
import type { TermOrigins } from "./terms.js";

/** Where a run stands. `queued` waits for a worker; the last three are for good. */
export type RunStatus = "queued" | "running" | "paused" | "completed" | "failed" | "cancelled";

/** What a run executes, as the store knows it. */
export interface ProgramRef {
  readonly kind: string;
  readonly name: string;
  readonly digest: string;
  readonly source: JsonObject | null;
  /** The code that it was played with last, where the program says; see `Program.code`. */
  readonly code?: string;
}

/** Why a run stands still, and what it waits for. */
export interface Pause {
  readonly checkpoint_id: string;
  readonly at: number;
  /** The approvals that have to be decided. */
  readonly approvals: readonly string[];
  /** Those of them that were asked for now. */
  readonly requested: readonly string[];
  /** Children that stand still themselves. */
  readonly children: readonly string[];
  /** Model calls that were handed over and are not answered yet. */
  readonly batches?: readonly string[];
  readonly exhausted_dimension: string | null;
  /** Why it cannot go on as it is, where nobody is asked anything: its program does something else than before. */
  readonly problem?: string;
}

export interface Failure extends WrittenError {
  /** The dimension that ran out, when that is why. */
  readonly dimension: string | null;
}

/** Who wants a run to end, and why. */
export interface RunCancellation {
  readonly by: string;
  readonly reason: string | null;
  /** Set when the run ends because more budget was denied to it. */
  readonly denied?: { readonly approval_id: string; readonly dimension: string };
}

/** Everything the store knows of a run, beside its budget, its journal and its chain. */
export interface RunRecord {
  readonly id: string;
  readonly status: RunStatus;
  readonly program: ProgramRef;
  readonly input: Json;
  /** The budget that its calls name: its own, or that of the parent it shares. */
  readonly budget: BudgetId;
  readonly shares: boolean;
  /** The budget that only the final answer may use. */
  readonly wrap_up: BudgetId | null;
  readonly session: string | null;
  readonly parent: string | null;
  readonly depth: number;
  /** Who has started it: an operator may override policies, an agent may only tighten them. */
  readonly started_by: string;
  /** Set when whoever has started it may not decide, and has brought its program along: its past is kept apart. */
  readonly brought?: true;
  /** An operator has allowed that it goes on with changed code, which is played against the journal. The next claim uses it up. */
  readonly replay_changed?: true;
  /** The code that it was played with before it was claimed with changed code, until that has been found to do the same. */
  readonly former_code?: string;
  /** What becomes of a run below it that is expected not to fit, where that was said; else that is up to whoever drives it. */
  readonly preflight?: PreflightPolicy;
  /** Who set its limits and policies, by dimension, where that is not the table. */
  readonly terms?: TermOrigins;
  /** How long its requests wait for an answer; null when that is up to whoever drives it. */
  readonly approval_ms: number | null;
  readonly created: number;
  readonly ended: number | null;
  /** What it was expected to take before it began; null when nobody could say, or nobody was asked. */
  readonly estimate: Estimate | null;
  readonly pause: Pause | null;
  /** The children that it stood still for, from the moment it may go on until it is driven again. */
  readonly awaits?: readonly string[];
  /** Somebody wants it to end. */
  readonly cancel: RunCancellation | null;
  /** Pending requests by what they are about, so that nothing is asked for twice. Other runs may wait for the same ones. */
  readonly requests: Readonly<Record<string, string>>;
  readonly result: Json;
  readonly failure: Failure | null;
  readonly output: Output;
  /** What the sandbox said of the program when it came to an end; null when it has not, or is none of the sandbox. */
  readonly execution: Execution | null;
  readonly version: number;
}

/** Where a run stands that something can still become of; those that are driven first. */
export const UNENDED: readonly RunStatus[] = ["running", "paused", "queued"];

const ENDED: ReadonlySet<RunStatus> = new Set(["completed", "failed", "cancelled"]);

/** Whether a run is over for good. */
export function hasEnded({ status }: Pick<RunRecord, "status">): boolean {
  return ENDED.has(status);
}

/**
 * Whether nothing has been written of a run since it was started: nobody has claimed it, so that it has no claim, no checkpoint and no
 * journal. Who claims it writes it over this version, and finds out if that is not so any more.
 */
export function isNew({ status, version }: Pick<RunRecord, "status" | "version">): boolean {
  return status === "queued" && version === 1;
}

/** A run as the store keeps it. */
export function readRun({ id, status, body, version }: Document): RunRecord {
  // Runs that were written before there were these have none.
  const { estimate = null, execution = null, ...rest } = body as unknown as RunRecord;
  return { ...rest, estimate, execution, id, status: status as RunStatus, version };
}

/** Writes a run over the version it was read as. */
export function putRun(run: RunRecord): PutOperation {
  const { id, status, version, ...body } = run;
  return { op: "put", kind: "run", id, budget: run.budget, status, body: body as unknown as JsonObject, version };
}

/** Leaves word in the chain of something that happened to a run. */
export function record(
  { budget, id }: Pick<RunRecord, "budget" | "id">,
  action_type: string,
  data: JsonObject = {},
): Operation {
  return { op: "record", budget, action: { action_type, data: { run_id: id, ...data } } };
}
