/**
 * What an execution gives back, as it goes over the wire. The keys are snake_case because clients in other languages read
 * them; they are fixed, and new ones are only ever added.
 */
export interface SandboxResult {
  /** Whether the code ran to its end with exit code 0. */
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly fuel_consumed: number;
  readonly memory_used_bytes: number;
  readonly duration_ms: number;
  readonly files_created: readonly string[];
  readonly files_modified: readonly string[];
  readonly session_id: string;
  readonly metadata: SandboxMetadata;
}

export interface SandboxMetadata {
  readonly fuel_analysis: FuelAnalysis;
  /** Absent or null when nothing failed, and when nothing is known about the failure. */
  readonly error_guidance?: ErrorGuidance | null;
  readonly trap_reason: TrapReason | null;
  readonly trap_message: string | null;
  /** What the fuel was counted by; absent where nothing was executed. */
  readonly fuel_basis?: FuelBasis;
  /** True when a statement of a dialogue needs more lines; nothing was carried out then. */
  readonly incomplete?: boolean;
  /** True when a statement of a dialogue has asked to leave it, with `exit_code`. */
  readonly exited?: boolean;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
}

/** Everything that defines how much fuel a program burns: with the same basis, program and input, a figure is the same. */
export interface FuelBasis {
  readonly guest: string;
  readonly guest_sha256: string;
  /** The version of the cost table and of the rewriter, and the hash of the profile that the rewriter had, if any. */
  readonly meter: string;
  /** Of the guest's own boot code. */
  readonly boot_sha256: string;
  readonly argv: readonly string[];
  /** Of the interpreter itself, the seed of its hashes among them. */
  readonly env: Readonly<Record<string, string>>;
}

/** Why the host ended a guest; `trap` is any other fault of the machine, with its own words in `trap_message`. */
export type TrapReason = "out_of_fuel" | "memory_limit" | "unreachable" | "stack_overflow" | "timeout" | "trap";

/** The part of the budget that was used: below 50 %, 75 %, 90 %, from there on, and the trap. */
export type FuelStatus = "efficient" | "moderate" | "warning" | "critical" | "exhausted";

export interface FuelAnalysis {
  readonly consumed: number;
  readonly budget: number;
  /** Rounded down to a hundredth, so that it never reaches a band that `status` has not. */
  readonly utilization_percent: number;
  readonly status: FuelStatus;
  readonly recommendation: string | null;
  readonly likely_causes: readonly string[];
}

export type ErrorType =
  | "OutOfFuel"
  | "PathRestriction"
  | "QuickJSTupleDestructuring"
  | "MissingVendoredPackage"
  | "WASMUnreachable"
  | "MemoryExhausted"
  | "SyntaxError"
  | "Timeout"
  | "StackOverflow";

export interface ErrorGuidance {
  readonly error_type: ErrorType;
  readonly error_message: string;
  /** Sentences for whoever writes the code, the most useful first. */
  readonly actionable_guidance: readonly string[];
  /** Files of the repository with the anchor of a section. */
  readonly related_docs: readonly string[];
  readonly code_examples?: readonly string[];
}
