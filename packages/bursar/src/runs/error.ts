import type { JsonObject } from "../core/chain/canonical.js";
import type { Decision } from "../core/decision.js";
import { BursarError } from "../core/errors.js";

/** What a program is told when an effect it asked for did not come about. */
export class RunError extends BursarError {
  override readonly name: string = "RunError";
  /** `dimension` when a limit is behind it, and what else a program may want to know. */
  readonly data: JsonObject;

  constructor(code: string, message: string, data: JsonObject = {}, options?: ErrorOptions) {
    super(code, message, options);
    this.data = data;
  }
}

/** Something inside of an effect did not fit; the effect as a whole stands or falls with it. */
export class RefusedInside extends RunError {
  readonly decision: Decision;
  /** What the effect had used by then, where it knows. */
  readonly usage: unknown;

  constructor(decision: Decision, message: string, usage?: unknown) {
    const [finding] = decision.findings;
    super(finding?.refusal ?? "busy", message, { dimension: finding?.dimension ?? null });
    this.decision = decision;
    this.usage = usage;
  }
}

/** The program did not do again what it had done before. The run stands still, and nothing was done anew. */
export class ReplayError extends BursarError {
  override readonly name: string = "ReplayError";
  /** What it did before, and what it does now. */
  readonly difference: string;

  constructor(run: string, problem: string) {
    super(
      "replay",
      `run ${run} stands still: ${problem}. Its program or its interpreter was changed since, or it does something else each time; ` +
        "bring the old program back and resume the run, or cancel it and start it anew",
    );
    this.difference = problem;
  }
}

const LOST = {
  taken: "was taken over by another worker; nothing more is written here",
  left: "is not driven here any more, so nothing more is written here",
  closed: "was let go of, because the Bursar that drove it was closed; whoever drives it next goes on where it was",
} as const;

/** A run is not ours any more, most often because another worker has it. Nothing that was still to be said was written. */
export class ClaimLostError extends BursarError {
  override readonly name: string = "ClaimLostError";
  /** Another worker has it, it is driven here no more, or the one that drove it here was closed, which is no fault. */
  readonly how: "taken" | "left" | "closed";

  constructor(run: string, how: keyof typeof LOST = "taken") {
    super("claim_lost", `run ${run} ${LOST[how]}`);
    this.how = how;
  }
}

/** Why a saved guest cannot be restored that can be played again from the beginning instead. */
const REPLAYABLE: ReadonlySet<unknown> = new Set(["build", "newer", "older", "damaged"]);

/** A program in the sandbox cannot be brought back here. The run is as it was, for a process that can. */
export class GuestUnavailableError extends BursarError {
  override readonly name: string = "GuestUnavailableError";
  /** Whether only its snapshot cannot be used, so that the journal can be played from the beginning. */
  readonly isReplayable: boolean;

  constructor(run: string, cause: Error) {
    const message = `the program of run ${run} cannot be brought back in this process: ${cause.message}`;
    super("guest_unavailable", message, { cause });
    this.isReplayable = "reason" in cause && REPLAYABLE.has(cause.reason);
  }
}

/** This process cannot go on with a run, for want of what the message names. The run is as it was, and waits for a process that can. */
export class NotEquippedError extends RunError {
  override readonly name: string = "NotEquippedError";
  readonly missing: readonly string[];

  constructor(run: string, missing: readonly string[], options?: ErrorOptions) {
    super("not_equipped", `run ${run} cannot go on in this process: ${missing.join("; ")}`, {}, options);
    this.missing = missing;
  }
}

/** The code of a program is another than the one that its run was played with. Nothing was decided, and nothing was done. */
export class ProgramChangedError extends RunError {
  override readonly name: string = "ProgramChangedError";

  constructor(run: string, program: string, { cause }: { readonly cause?: ReplayError } = {}) {
    super(
      "program_changed",
      `the program ${program} of run ${run} was changed since the run was driven last${cause === undefined ? "" : ` (${cause.difference})`}; ` +
        "bring the old program back, or allow the changed one with replayChanged (--replay-changed, replay_changed): it is played against " +
        "what the run has done, and pauses where it differs",
      { program },
      ...(cause === undefined ? [] : [{ cause }]),
    );
  }
}

const LACKING: ReadonlySet<string> = new Set([
  "unknown_program",
  "not_equipped",
  "program_changed",
  "guest_unavailable",
]);

/** Whether a run cannot go on in this process, and is left to one that can. */
export function isLacking(error: unknown): error is BursarError {
  return error instanceof BursarError && LACKING.has(error.code);
}

const NOT_THE_PROGRAMS: ReadonlySet<string> = new Set(["claim_lost", "stale", "not_settled", "guest_unavailable"]);

/** Whether something went wrong that the program has nothing to do with: it must not be told, because it would be true only once. */
export function isFault(error: unknown): boolean {
  return error instanceof BursarError && (error.code.startsWith("store_") || NOT_THE_PROGRAMS.has(error.code));
}

/** What is written of an error, so that a replay throws the same. */
export interface WrittenError extends JsonObject {
  readonly code: string;
  readonly message: string;
  readonly data: JsonObject;
}

const LONGEST_MESSAGE = 4000;

export function writeError(error: unknown): WrittenError {
  if (error instanceof RunError) return { code: error.code, message: error.message, data: error.data };
  const message = messageOf(error);
  const code = error instanceof BursarError ? error.code : "failed";
  // A half of a surrogate pair cannot be written down.
  return { code, message: message.slice(0, LONGEST_MESSAGE).replace(/\p{Surrogate}/gu, "\ufffd"), data: {} };
}

/** Anything may be thrown, also what cannot be described. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.message}${hiddenCode(error)}` : String(error);
  } catch {
    return "it failed, and its error cannot be described";
  }
}

/**
 * `fetch` hides what happened behind its own error. The code is told and no more: the rest may name addresses that a program in the
 * sandbox has no business to know.
 */
function hiddenCode({ cause }: Error): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  return typeof code === "string" && /^[A-Z][A-Z\d_]{2,40}$/.test(code) ? ` (${code})` : "";
}

export function readError({ code, message, data }: WrittenError): RunError {
  return new RunError(code, message, data);
}
