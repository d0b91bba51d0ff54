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

/** The program did not do again what it had done before: it was changed while a run of it was under way. */
export class ReplayError extends BursarError {
  override readonly name: string = "ReplayError";

  constructor(run: string, problem: string) {
    super(
      "replay",
      `run ${run} cannot go on: ${problem}. Its program was changed since, or does something else each time; ` +
        "bring the old program back, or cancel the run and start it anew",
    );
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

/** A program in the sandbox cannot be brought back here. The run is as it was, for somebody who can. */
export class GuestUnavailableError extends BursarError {
  override readonly name: string = "GuestUnavailableError";

  constructor(run: string, cause: Error) {
    const message = `the program of run ${run} cannot be brought back in this process: ${cause.message}`;
    super("guest_unavailable", message, { cause });
  }
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
