import type { EarlierImport } from "../analysis/facts.js";
import type { FuelBasis, SandboxResult } from "../analysis/result.js";
import type { Answer, HostCall, Import, Outcome } from "../wasm/outcome.js";
import type { Parked, Report, Request } from "./errand.js";
import { Controls, type Errand, type FileEntry, type FileWork, type Output } from "./errand.js";
import { type ExecuteOptions, SandboxInputError, type Setup, whole } from "./options.js";
import type { Pool } from "./pool.js";
import { resultOf, type Text } from "./result.js";

/** How far an execution has come: to its end, or to questions that somebody has to answer first. */
export type Turn =
  | { readonly kind: "ended"; readonly result: SandboxResult }
  | { readonly kind: "pending"; readonly calls: readonly HostCall[]; readonly open: readonly number[] };

/** What can be set for one execution, in a form that fits into a message. */
export type Settings = Omit<ExecuteOptions, "signal" | "onProgress">;

/** An execution that has begun, with what it has done so far. */
interface Underway {
  readonly code: string;
  readonly budget: number;
  readonly timeout_ms: number;
  readonly imports: Import[];
  readonly stdout: Output[];
  readonly stderr: Output[];
  readonly created: Set<string>;
  readonly modified: Set<string>;
  /** What the session goes back to when the guest is stopped in the middle. */
  readonly good: Parked;
  fuel: number;
  extended: number;
  duration_ms: number;
  memory_bytes: number;
}

/** What is kept of a session between processes. */
export interface Kept {
  readonly id: string;
  readonly setup: Setup;
  readonly earlier: readonly EarlierImport[];
  readonly parked: Parked;
  readonly underway: (Omit<Underway, "created" | "modified"> & { created: string[]; modified: string[] }) | null;
}

/** What is done with files is never long. */
const FILES_MS = 30_000;
/** More than any session loads; a guest could make them up, execution after execution. */
const MOST_IMPORTS = 1000;
const FRESH: Parked = { version: 0, guest: null };

/** One session: what it was made with, and what its executions have left. Executions follow each other. */
export class Session {
  readonly id: string;
  readonly setup: Setup;
  private readonly pool: Pool;
  private parked: Parked = FRESH;
  private readonly earlier: EarlierImport[] = [];
  private underway: Underway | null = null;
  private controls: Controls | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  private destroyed = false;

  constructor(id: string, setup: Setup, pool: Pool, kept?: Kept) {
    this.id = id;
    this.setup = setup;
    this.pool = pool;
    if (kept === undefined) return;
    this.parked = kept.parked;
    this.earlier.push(...kept.earlier);
    const { underway } = kept;
    if (underway !== null) {
      this.underway = { ...underway, created: new Set(underway.created), modified: new Set(underway.modified) };
    }
  }

  /** Runs a program until it ends, or has a question. */
  begin(code: string, settings: Settings = {}): Promise<Turn> {
    if (typeof code !== "string") throw new SandboxInputError("code", "is no text");
    const { fuelBudget = this.setup.fuelBudget, timeout = this.setup.timeout, stdin, argv = [] } = settings;
    whole(fuelBudget, "fuelBudget", 1, Number.MAX_SAFE_INTEGER);
    whole(timeout, "timeout", 1, 24 * 60 * 60_000);
    const input = typeof stdin === "string" ? new TextEncoder().encode(stdin) : (stdin ?? null);
    return this.inTurn(() => {
      if (this.underway !== null) throw new Error("the session waits for an answer; resume it, or drop what it does");
      this.underway = {
        ...{ code, budget: fuelBudget, timeout_ms: timeout, good: this.parked },
        ...{ imports: [], stdout: [], stderr: [], created: new Set(), modified: new Set() },
        ...{ fuel: 0, extended: 0, duration_ms: 0, memory_bytes: 0 },
      };
      const interactive = settings.interactive ?? false;
      return this.turn({ op: "begin", code, argv, stdin: input, interactive }, this.underway);
    });
  }

  /** Goes on with a program that had a question. */
  resume(answer: Answer): Promise<Turn> {
    return this.inTurn(() => {
      if (this.underway === null) throw new Error("the session waits for no answer");
      return this.turn({ op: "resume", answer }, this.underway);
    });
  }

  /** Gives a pending program up; the session is as it was before. */
  drop(): Promise<void> {
    return this.inTurn(async () => {
      if (this.underway !== null) this.parked = { ...this.underway.good, version: this.parked.version + 1 };
      this.underway = null;
    });
  }

  /** Ends what is running. */
  cancel(): void {
    this.controls?.cancel();
  }

  /** Lets what is running burn more. */
  extend(fuel: number): void {
    whole(fuel, "fuel", 1, Number.MAX_SAFE_INTEGER);
    this.controls?.extend(fuel);
    if (this.underway !== null) this.underway.extended += fuel;
  }

  get consumed(): number {
    return (this.underway?.fuel ?? 0) + (this.controls?.consumed ?? 0);
  }

  /** Everything that another process needs in order to go on. */
  keep(): Promise<Kept> {
    return this.inTurn(async () => {
      const { id, setup, earlier, parked, underway } = this;
      if (underway === null) return { id, setup, earlier, parked, underway };
      const kept = { ...underway, created: [...underway.created], modified: [...underway.modified] };
      return { id, setup, earlier, parked, underway: kept };
    });
  }

  /** Looks at the session's files, or changes them, between two executions. */
  files(work: FileWork): Promise<readonly FileEntry[] | Uint8Array | undefined> {
    return this.inTurn(async () => {
      const report = await this.pool.run(this.errand({ op: "files", work }, 0, FILES_MS, new Controls()));
      if (report.parked === null) throw new Error(trapMessage(report));
      this.parked = report.parked;
      return report.found;
    });
  }

  destroy(): void {
    this.destroyed = true;
    this.cancel();
  }

  private async turn(request: Request, underway: Underway): Promise<Turn> {
    const controls = new Controls();
    this.controls = controls;
    try {
      const fuel = underway.budget + underway.extended - underway.fuel;
      const timeout_ms = Math.max(1, underway.timeout_ms - underway.duration_ms);
      return this.take(await this.pool.run(this.errand(request, fuel, timeout_ms, controls)), underway);
    } finally {
      this.controls = null;
    }
  }

  private errand(request: Request, fuel: number, timeout_ms: number, { shared }: Controls): Errand {
    const { id: session, setup, parked } = this;
    return { session, setup, parked, version: parked.version, request, fuel, timeout_ms, controls: shared };
  }

  private take(report: Report, underway: Underway): Turn {
    const { execution, parked } = report;
    underway.fuel += execution.fuel_consumed;
    underway.duration_ms += report.duration_ms;
    underway.memory_bytes = Math.max(underway.memory_bytes, execution.memory_bytes);
    underway.imports.push(...execution.imports.slice(0, MOST_IMPORTS - underway.imports.length));
    addTo(underway.stdout, report.stdout, this.setup.limits.stdout_bytes);
    addTo(underway.stderr, report.stderr, this.setup.limits.stderr_bytes);
    for (const path of report.files_created) underway.created.add(path);
    for (const path of report.files_modified) if (!underway.created.has(path)) underway.modified.add(path);
    this.parked = parked ?? { ...underway.good, version: this.parked.version + 1 };
    const { outcome } = execution;
    if (outcome.kind === "pending") return { kind: "pending", calls: outcome.calls, open: outcome.open };
    this.underway = null;
    return { kind: "ended", result: this.end(underway, outcome, report.basis) };
  }

  private end(
    underway: Underway,
    outcome: Exclude<Outcome, { kind: "pending" }>,
    basis: FuelBasis | undefined,
  ): SandboxResult {
    const { code, budget, extended, timeout_ms, imports, fuel, memory_bytes, duration_ms } = underway;
    const result = resultOf({
      ...{ session: this.id, setup: this.setup, code, outcome, imports, earlier: this.earlier, memory_bytes },
      ...{ fuel, budget: budget + extended, duration_ms: Math.round(duration_ms), timeout_ms },
      stdout: textOf(underway.stdout, this.setup.limits.stdout_bytes),
      stderr: textOf(underway.stderr, this.setup.limits.stderr_bytes),
      ...(basis !== undefined && { basis }),
      files_created: [...underway.created].sort(),
      files_modified: [...underway.modified].sort(),
    });
    if (outcome.kind === "ended") this.remember(imports);
    return result;
  }

  private remember(imports: readonly Import[]): void {
    for (const { name, fuel, loaded } of imports) {
      if (loaded) this.earlier.push({ module: name, fuel });
    }
    this.earlier.splice(0, this.earlier.length - MOST_IMPORTS);
  }

  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.queue.then(() => {
      if (this.destroyed) throw new Error(`the session ${this.id} is gone; create another`);
      return work();
    });
    this.queue = result.catch(() => {});
    return result;
  }
}

/** Adds what came out before a question, but never more than may come out in all: questions could follow without an end. */
function addTo(pieces: Output[], { bytes, truncated }: Output, most: number): void {
  const room = most - pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  const kept = { bytes: bytes.subarray(0, room), truncated: truncated || bytes.length > room };
  const isNew = kept.bytes.length > 0 || (kept.truncated && !pieces.some((piece) => piece.truncated));
  if (isNew) pieces.push(kept);
}

/** Pieces as one text, not longer than allowed. Bytes that are no UTF-8 are replaced: it is the guest's output. */
function textOf(pieces: readonly Output[], most: number): Text {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const truncated = bytes.length > most || pieces.some((piece) => piece.truncated);
  return { text: new TextDecoder().decode(bytes.subarray(0, most)), truncated };
}

function trapMessage({ execution: { outcome } }: Report): string {
  return outcome.kind === "trapped" ? outcome.message : "the files cannot be reached";
}
