import type { EarlierImport } from "../analysis/facts.js";
import type { SandboxResult } from "../analysis/result.js";
import type { Answer, HostCall, Import, Outcome } from "../wasm/outcome.js";
import { checkAnswered } from "./answer.js";
import type { Left, News, Parked, Report, Request } from "./errand.js";
import { Controls, type Errand, type FileEntry, type FileWork, type Output } from "./errand.js";
import { whole } from "./fields.js";
import { SandboxInputError } from "./input-error.js";
import type { ExecuteOptions, Setup } from "./options.js";
import { addTo, textOf } from "./output-pieces.js";
import type { Owner, Pool } from "./pool.js";
import { resultOf } from "./result.js";
import { sizeOf } from "./size.js";
import type { WarnedOf } from "./thresholds.js";

/** How far an execution has come: to its end, or to questions that somebody has to answer first. */
export type Turn =
  | { readonly kind: "ended"; readonly result: SandboxResult; readonly usage: Usage }
  | {
      readonly kind: "pending";
      readonly calls: readonly HostCall[];
      readonly open: readonly number[];
      readonly usage: Usage;
      /** What the program has printed so far. */
      readonly output: { readonly stdout: string; readonly stderr: string };
    };

/** What a program has used since it began. */
export interface Usage {
  readonly fuel: number;
  readonly memory_bytes: number;
  readonly bytes_written: number;
  /** The largest write since its last question that did not fit any more; 0 when all of them did. */
  readonly bytes_refused: number;
  /** How large its memory would have become since its last question, had it been allowed to; 0 when it wanted no more. */
  readonly memory_refused: number;
}

/** What a program has burnt so far, and what it may burn, with its extensions. */
export type Progress = { readonly consumed: number; readonly budget: number };

/** What can be set for one execution, in a form that fits into a message. */
export type Settings = Omit<ExecuteOptions, "signal" | "onProgress" | "onWarning" | "thresholds" | "onOutput">;

/** And at which thresholds of its fuel somebody is to be warned, if anybody listens. */
export interface Terms extends Settings {
  readonly thresholds?: readonly number[];
}

/** Is told what happens while a program runs. */
export type Listener = (news: News) => void;

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
  /** Absent in what older versions have saved. */
  warned?: WarnedOf;
  /** The ids of the questions that have no answer yet. */
  open: readonly number[];
  fuel: number;
  extended: number;
  duration_ms: number;
  memory_bytes: number;
  bytes_written: number;
  /** How much it may write from now on, where somebody has said so. */
  storage_bytes?: number;
  /** How large its memory may be, where somebody has said so. */
  memory_limit?: number;
}

/** What is kept of a session between processes. */
export interface Kept {
  readonly id: string;
  readonly setup: Setup;
  readonly earlier: readonly EarlierImport[];
  readonly parked: Parked;
  readonly underway: (Omit<Underway, "created" | "modified"> & { created: string[]; modified: string[] }) | null;
}

/** Where a session is between two executions. */
type Standing =
  | { readonly kind: "parked"; readonly parked: Parked }
  | { readonly kind: "held"; readonly version: number }
  | { readonly kind: "lost"; readonly version: number; readonly message: string };

/** What is done with files is never long, nor is putting a guest together. */
const FILES_MS = 30_000;
/** More than any session loads; a guest could make them up, execution after execution. */
const MOST_IMPORTS = 1000;

/** One session: what it was made with, and what its executions have left. Executions follow each other. */
export class Session implements Owner {
  readonly id: string;
  /** Without the files it starts with: those are parked. */
  readonly setup: Setup;
  private readonly pool: Pool;
  private standing: Standing;
  private readonly earlier: EarlierImport[] = [];
  private underway: Underway | null = null;
  private controls: Controls | null = null;
  private listener: Listener | null = null;
  private queue: Promise<unknown> = Promise.resolve();
  private destroyed = false;

  constructor(id: string, setup: Setup, pool: Pool, kept?: Kept) {
    this.id = id;
    this.setup = { ...setup, files: {} };
    this.pool = pool;
    const fresh: Parked = { version: 0, guest: null, files: setup.files };
    this.standing = { kind: "parked", parked: kept?.parked ?? fresh };
    if (kept === undefined) return;
    this.earlier.push(...kept.earlier);
    const { underway } = kept;
    if (underway !== null) {
      this.underway = { ...underway, created: new Set(underway.created), modified: new Set(underway.modified) };
    }
  }

  get isHeld(): boolean {
    return this.standing.kind === "held";
  }

  /** How much memory it takes in this process, about. */
  get bytes(): number {
    const { standing, underway } = this;
    const parked = standing.kind === "parked" ? standing.parked : null;
    const said = [...(underway?.stdout ?? []), ...(underway?.stderr ?? [])];
    const output = said.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const good = underway === null || underway.good.guest === parked?.guest ? 0 : sizeOf(underway.good);
    return (parked === null ? 0 : sizeOf(parked)) + good + output;
  }

  async load(): Promise<Parked> {
    const { standing } = this;
    if (standing.kind === "parked") return standing.parked;
    throw new Error(standing.kind === "lost" ? standing.message : "the session is still held by another thread");
  }

  takeBack(parked: Parked): void {
    if (this.isHeld && parked.version === this.version) this.standing = { kind: "parked", parked };
  }

  lose(version: number, message: string): void {
    const what = `the program was lost while it waited for an answer (${message}); the session is as it was before`;
    if (this.isHeld && version === this.version) this.standing = { kind: "lost", version, message: what };
  }

  hear(news: News): void {
    const warned = this.underway?.warned;
    if (news.kind === "warning" && this.underway !== null && warned !== undefined) {
      const told = warned.thresholds.indexOf(news.warning.threshold) + 1;
      this.underway.warned = { ...warned, told };
    }
    this.listener?.(news);
  }

  /** Runs a program until it ends, or has a question. */
  begin(code: string, settings: Terms = {}, listener: Listener | null = null): Promise<Turn> {
    if (typeof code !== "string") throw new SandboxInputError("code", "is no text");
    const { fuelBudget = this.setup.fuelBudget, timeout = this.setup.timeout, stdin, argv = [] } = settings;
    const { thresholds = [], interactive = false } = settings;
    const { storageLimit: storage_bytes, memoryLimit: memory_limit } = settings;
    whole(fuelBudget, "fuelBudget", 1, Number.MAX_SAFE_INTEGER);
    if (storage_bytes !== undefined) whole(storage_bytes, "storageLimit", 0, Number.MAX_SAFE_INTEGER);
    if (memory_limit !== undefined) whole(memory_limit, "memoryLimit", 0, Number.MAX_SAFE_INTEGER);
    whole(timeout, "timeout", 1, 24 * 60 * 60_000);
    const input = typeof stdin === "string" ? new TextEncoder().encode(stdin) : (stdin ?? null);
    return this.inTurn(async () => {
      if (this.underway !== null) throw new Error("the session waits for an answer; resume it, or drop what it does");
      this.underway = {
        code,
        budget: fuelBudget,
        timeout_ms: timeout,
        good: await this.load(),
        open: [],
        imports: [],
        stdout: [],
        stderr: [],
        created: new Set(),
        modified: new Set(),
        fuel: 0,
        extended: 0,
        duration_ms: 0,
        memory_bytes: 0,
        bytes_written: 0,
        ...(thresholds.length > 0 && { warned: { thresholds, told: 0 } }),
        ...(storage_bytes !== undefined && { storage_bytes }),
        ...(memory_limit !== undefined && { memory_limit }),
      };
      return this.turn({ op: "begin", code, argv, stdin: input, interactive }, this.underway, listener);
    });
  }

  /** Goes on with a program that had a question. */
  resume(answer: Answer, listener: Listener | null = null): Promise<Turn> {
    return this.inTurn(async () => {
      if (this.underway === null) throw new Error("the session waits for no answer");
      const checked = checkAnswered(answer, this.underway.open);
      return this.turn({ op: "resume", answer: checked }, this.underway, listener);
    });
  }

  /** Gives a pending program up; the session is as it was before. */
  drop(): Promise<void> {
    return this.inTurn(async () => {
      if (this.underway === null) return;
      this.undo(this.underway);
      this.underway = null;
      this.pool.forget(this.id);
    });
  }

  /** Ends what is running. */
  cancel(): void {
    this.controls?.cancel();
  }

  /** Says how much a program that waits for an answer may burn, write and have from now on, whatever it was allowed before. */
  allow(fuel: number, storage_bytes?: number, memory_bytes?: number): void {
    whole(fuel, "fuel", 1, Number.MAX_SAFE_INTEGER);
    if (storage_bytes !== undefined) whole(storage_bytes, "storage_bytes", 0, Number.MAX_SAFE_INTEGER);
    if (memory_bytes !== undefined) whole(memory_bytes, "memory_bytes", 0, Number.MAX_SAFE_INTEGER);
    if (this.underway === null) return;
    this.underway.extended = this.underway.fuel + fuel - this.underway.budget;
    if (storage_bytes !== undefined) this.underway.storage_bytes = storage_bytes;
    if (memory_bytes !== undefined) this.underway.memory_limit = memory_bytes;
  }

  /** Lets what is running burn more. */
  extend(fuel: number): void {
    whole(fuel, "fuel", 1, Number.MAX_SAFE_INTEGER);
    this.controls?.extend(fuel);
    if (this.underway !== null) this.underway.extended += fuel;
  }

  /** How far the program under way has come; null when there is none. */
  get progress(): Progress | null {
    const { underway } = this;
    if (underway === null) return null;
    const consumed = underway.fuel + (this.controls?.consumed ?? 0);
    return { consumed, budget: underway.budget + underway.extended };
  }

  /** Everything that another process needs in order to go on. */
  keep(): Promise<Kept> {
    return this.inTurn(async () => {
      if (this.isHeld) this.arrive((await this.ask({ op: "park" })).left);
      const parked = await this.load();
      const { id, setup, earlier, underway } = this;
      if (underway === null) return { id, setup, earlier, parked, underway };
      const kept = { ...underway, created: [...underway.created], modified: [...underway.modified] };
      return { id, setup, earlier, parked, underway: kept };
    });
  }

  /** Looks at the session's files, or changes them, between two executions. */
  files(work: FileWork): Promise<readonly FileEntry[] | Uint8Array | undefined> {
    return this.inTurn(async () => {
      const { left, found, failure } = await this.ask({ op: "files", work });
      this.arrive(left);
      if (failure !== undefined) throw new Error(failure);
      return found;
    });
  }

  destroy(): void {
    this.destroyed = true;
    this.cancel();
    this.pool.forget(this.id);
  }

  private get version(): number {
    return this.standing.kind === "parked" ? this.standing.parked.version : this.standing.version;
  }

  /** Has something done that is no execution. */
  private async ask(request: Request): Promise<Report> {
    const held = this.isHeld;
    const report = await this.pool.run(this.errand(request, 0, FILES_MS, new Controls()), this);
    const { outcome } = report.execution;
    if (outcome.kind !== "trapped") return report;
    // Nobody has what a thread has held that did not come back.
    if (held) this.lose(this.version, outcome.message);
    throw new Error(outcome.message);
  }

  private arrive(left: Left): void {
    if (left.kind !== "undone") this.standing = left;
  }

  private undo({ good }: Underway): void {
    this.standing = { kind: "parked", parked: { ...good, version: this.version + 1 } };
  }

  private async turn(request: Request, underway: Underway, listener: Listener | null): Promise<Turn> {
    const controls = new Controls();
    this.controls = controls;
    this.listener = listener === null ? null : limited(listener, underway, this.setup);
    try {
      const { warned, fuel: burnt, storage_bytes, memory_limit: memory_bytes } = underway;
      const fuel = underway.budget + underway.extended - burnt;
      const timeout_ms = Math.max(1, underway.timeout_ms - underway.duration_ms);
      const errand = {
        ...this.errand(request, fuel, timeout_ms, controls),
        streams: listener !== null,
        ...(storage_bytes !== undefined && { storage_bytes }),
        ...(memory_bytes !== undefined && { memory_bytes }),
        ...(listener !== null && warned !== undefined && { warned: { ...warned, burnt } }),
      };
      return this.take(await this.pool.run(errand, this), underway);
    } finally {
      this.controls = null;
      this.listener = null;
    }
  }

  /** What is parked is added by the thread that takes it, if it needs it. */
  private errand(request: Request, fuel: number, timeout_ms: number, { shared }: Controls): Errand {
    const { id: session, setup, version } = this;
    return { session, setup, parked: null, version, request, fuel, timeout_ms, controls: shared };
  }

  private take(report: Report, underway: Underway): Turn {
    const { execution, left } = report;
    underway.fuel += execution.fuel_consumed;
    underway.duration_ms += report.duration_ms;
    underway.memory_bytes = Math.max(underway.memory_bytes, execution.memory_bytes);
    underway.bytes_written += report.bytes_written;
    if (underway.storage_bytes !== undefined) underway.storage_bytes -= report.bytes_written;
    underway.imports.push(...execution.imports.slice(0, MOST_IMPORTS - underway.imports.length));
    addTo(underway.stdout, report.stdout, this.setup.limits.stdout_bytes);
    addTo(underway.stderr, report.stderr, this.setup.limits.stderr_bytes);
    for (const path of report.files_created) underway.created.add(path);
    for (const path of report.files_modified) if (!underway.created.has(path)) underway.modified.add(path);
    if (left.kind === "undone") this.undo(underway);
    else this.arrive(left);
    const { outcome } = execution;
    const { fuel, memory_bytes, bytes_written } = underway;
    const { memory_refused } = execution;
    const usage = { fuel, memory_bytes, bytes_written, bytes_refused: report.bytes_refused, memory_refused };
    if (outcome.kind === "pending") {
      underway.open = outcome.open;
      const { limits } = this.setup;
      const stdout = textOf(underway.stdout, limits.stdout_bytes).text;
      const stderr = textOf(underway.stderr, limits.stderr_bytes).text;
      return { kind: "pending", calls: outcome.calls, open: outcome.open, usage, output: { stdout, stderr } };
    }
    this.underway = null;
    return { kind: "ended", result: this.end(underway, outcome, report), usage };
  }

  private end(
    underway: Underway,
    outcome: Exclude<Outcome, { kind: "pending" }>,
    { basis, packages, path_refused }: Report,
  ): SandboxResult {
    const { code, budget, extended, timeout_ms, imports, fuel, memory_bytes, duration_ms } = underway;
    const result = resultOf({
      session: this.id,
      setup: this.setup,
      code,
      outcome,
      imports,
      earlier: this.earlier,
      memory_bytes,
      fuel,
      budget: budget + extended,
      duration_ms: Math.round(duration_ms),
      timeout_ms,
      stdout: textOf(underway.stdout, this.setup.limits.stdout_bytes),
      stderr: textOf(underway.stderr, this.setup.limits.stderr_bytes),
      ...(basis !== undefined && { basis }),
      ...(packages !== undefined && { packages }),
      ...(path_refused !== undefined && { path_refused }),
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

/** Passes on no more than what the result will hold: questions could follow without an end, and output with each of them. */
function limited(listener: Listener, { stdout, stderr }: Underway, { limits }: Setup): Listener {
  const total = (pieces: readonly Output[]) => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const room = { stdout: limits.stdout_bytes - total(stdout), stderr: limits.stderr_bytes - total(stderr) };
  return (news) => {
    if (news.kind !== "output") return listener(news);
    const pieces = news.pieces.flatMap(({ stream, bytes }) => {
      const kept = bytes.subarray(0, room[stream]);
      room[stream] -= kept.length;
      return kept.length === 0 ? [] : [{ stream, bytes: kept }];
    });
    if (pieces.length > 0) listener({ kind: "output", pieces });
  };
}
