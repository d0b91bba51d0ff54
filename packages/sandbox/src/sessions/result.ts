import type { EarlierImport, ErrorFacts } from "../analysis/facts.js";
import { analyzeFuel } from "../analysis/fuel.js";
import { explainError } from "../analysis/guidance.js";
import type { PackageFigure } from "../analysis/package-figure.js";
import type { FuelBasis, SandboxResult, TrapReason } from "../analysis/result.js";
import type { Import, Outcome, Trap } from "../wasm/outcome.js";
import type { Setup } from "./options.js";

/** Everything that is known of an execution once it has ended. */
export interface Ended {
  readonly session: string;
  readonly setup: Setup;
  readonly code: string;
  readonly outcome: Exclude<Outcome, { kind: "pending" }>;
  readonly imports: readonly Import[];
  readonly earlier: readonly EarlierImport[];
  readonly fuel: number;
  readonly budget: number;
  readonly memory_bytes: number;
  readonly duration_ms: number;
  readonly timeout_ms: number;
  readonly basis?: FuelBasis;
  /** What imports cost in the guest that it was. */
  readonly packages?: readonly PackageFigure[];
  readonly path_refused?: string;
  readonly stdout: Text;
  readonly stderr: Text;
  readonly files_created: readonly string[];
  readonly files_modified: readonly string[];
}

export interface Text {
  readonly text: string;
  readonly truncated: boolean;
}

/** The exit codes that shells use for programs that were ended from outside. */
const EXIT_CODES: Readonly<Record<Trap, number>> = {
  out_of_fuel: 137,
  memory_limit: 137,
  stack_overflow: 134,
  unreachable: 134,
  trap: 134,
  timeout: 124,
  cancelled: 130,
};

/** The result as callers get it, with its analysis. */
export function resultOf(ended: Ended): SandboxResult {
  const { outcome, stdout, stderr } = ended;
  const trapped = outcome.kind === "trapped" ? outcome : null;
  const exitCode = trapped !== null ? EXIT_CODES[trapped.reason] : outcome.kind === "ended" ? outcome.exit_code : 0;
  const success = trapped === null && exitCode === 0;
  const facts = factsOf(ended, exitCode);
  return {
    success,
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: exitCode,
    fuel_consumed: ended.fuel,
    memory_used_bytes: ended.memory_bytes,
    duration_ms: ended.duration_ms,
    files_created: ended.files_created,
    files_modified: ended.files_modified,
    session_id: ended.session,
    metadata: {
      fuel_analysis: analyzeFuel(facts),
      // Whoever has ended a program himself needs no advice.
      error_guidance: success || trapped?.reason === "cancelled" ? null : explainError(facts),
      trap_reason: facts.trap,
      trap_message: trapped?.message ?? null,
      ...(ended.basis !== undefined && { fuel_basis: ended.basis }),
      ...(outcome.kind === "incomplete" && { incomplete: true }),
      ...(outcome.kind === "ended" && outcome.exited === true && { exited: true }),
      stdout_truncated: stdout.truncated,
      stderr_truncated: stderr.truncated,
    },
  };
}

function factsOf(ended: Ended, exitCode: number): ErrorFacts {
  const { setup, outcome, imports } = ended;
  const trapped = outcome.kind === "trapped" ? outcome : null;
  const known = new Set(ended.earlier.map(({ module }) => module));
  return {
    consumed: ended.fuel,
    budget: ended.budget,
    trap: trapped === null ? null : trapOf(trapped.reason),
    imports: imports.map(({ name, fuel }) => ({ module: name, first: !known.has(name), fuel })),
    earlierImports: ended.earlier,
    autoPersistGlobals: setup.autoPersistGlobals,
    stderr: ended.stderr.text,
    code: ended.code,
    language: setup.language,
    exitCode,
    trapMessage: trapped?.message ?? null,
    mountedPackages: setup.packages,
    autoPath: setup.autoPath,
    mounts: ["/data/site-packages", "/tmp", ...setup.mounts.map(({ path }) => path)],
    memoryLimitBytes: setup.memoryLimit,
    timeoutMs: ended.timeout_ms,
    ...(ended.packages !== undefined && { packages: ended.packages }),
    ...(ended.path_refused !== undefined && { refusedPath: ended.path_refused }),
  };
}

/** An execution that its caller has ended is not a fault of the program. */
function trapOf(reason: Trap): TrapReason {
  return reason === "cancelled" ? "trap" : reason;
}
