import { Worker } from "node:worker_threads";
import { packageTable } from "../analysis/packages.js";
import type { Trap } from "../wasm/outcome.js";
import {
  Controls,
  type Errand,
  type FromWorker,
  type News,
  type Parked,
  type Report,
  type ToWorker,
} from "./errand.js";
import type { GuestParts, PartsMaker } from "./parts.js";

/** Whose errand it is. */
export interface Owner {
  /** Whether a thread holds all there is of it. */
  readonly isHeld: boolean;
  /** What is parked of it, for a thread that does not know it. */
  load(): Promise<Parked>;
  /** Takes what a thread has held, which now needs the room. */
  takeBack(parked: Parked): void;
  /** Is told that a thread has lost what it held. */
  lose(version: number, message: string): void;
  /** Is told what happens, while the program runs. */
  hear(news: News): void;
}

/** A errand that was handed in, and whoever waits for it. */
interface Waiting {
  readonly errand: Errand;
  readonly owner: Owner;
  readonly parts: GuestParts;
  readonly resolve: (report: Report) => void;
  readonly reject: (error: Error) => void;
}

/** What the analysis goes by is the same for all threads, and need not be sent by any. */
function withFigures(report: Report, { packages, fuel }: GuestParts): Report {
  const { uncompiled } = report;
  return { ...report, packages: uncompiled === undefined ? packages : packageTable(fuel, uncompiled) };
}

/** After so long beyond its deadline a guest that does not look at the clock is ended with its thread. */
const GRACE_MS = 5;
/** One that was stopped in time may take so long to put together what it leaves. */
const STOPPING_MS = 10_000;
/** A worker that does not even begin within so long is beyond help. */
const BEGIN_MS = 10_000;
const MOST_WAITING = 10_000;
const HEAP_MIB = 512;

export interface PoolOptions {
  /** How many executions run at the same time. */
  readonly workers: number;
  readonly parts: PartsMaker;
  /** The folder with vendored packages. */
  readonly packages: string;
}

/**
 * Threads that run executions, each one at a time. A thread that does not come back is ended, and only the execution it was
 * busy with notices: between executions sessions live outside of the threads. Only a program that waits for an answer stays in
 * its thread, until another session needs that.
 */
export class Pool implements AsyncDisposable {
  private readonly options: PoolOptions;
  private readonly threads: Thread[] = [];
  private waiting: Waiting[] = [];
  private closed = false;

  constructor(options: PoolOptions) {
    this.options = options;
    // A thread takes as long to start as a guest takes to be made ready, so the first one does not wait for a program.
    this.start();
  }

  async run(errand: Errand, owner: Owner): Promise<Report> {
    if (this.closed) throw new Error("the sandbox is closed; open it again");
    if (this.waiting.length >= MOST_WAITING) throw new Error("too many executions wait already; try again later");
    // A thread takes as long to start as the parts take to be read, so both begin now.
    if (this.threads.length === 0) this.start();
    const parts = await this.options.parts.make(errand.setup);
    return new Promise((resolve, reject) => {
      this.waiting.push({ errand, owner, parts, resolve, reject });
      this.next();
    });
  }

  /** Lets go of what threads remember of a session. */
  forget(session: string): void {
    for (const thread of this.threads) thread.forget(session);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting) reject(new Error("the sandbox was closed"));
    this.waiting = [];
    await Promise.all(this.threads.map((thread) => thread.end()));
  }

  private next(): void {
    for (let at = 0; at < this.waiting.length && !this.closed; ) {
      const thread = this.threadFor(this.waiting[at] as Waiting);
      if (thread === "none") return;
      if (thread === "later") {
        at += 1;
        continue;
      }
      const [{ errand, owner, parts, resolve, reject }] = this.waiting.splice(at, 1) as [Waiting];
      const work = thread.work(errand, this.options.parts.keyOf(errand.setup), parts, owner);
      void work.then((report) => resolve(withFigures(report, parts)), reject).finally(() => this.next());
    }
  }

  private drop(thread: Thread): void {
    const at = this.threads.indexOf(thread);
    if (at >= 0) this.threads.splice(at, 1);
  }

  /**
   * The thread that knows the session, else one that is free, else a new one, else one in which a program waits. None when all
   * are busy; later when the one that holds the session is about to give it back.
   */
  private threadFor({ errand: { session, version }, owner }: Waiting): Thread | "none" | "later" {
    const free = this.threads.filter((thread) => thread.free);
    const known = free.find((thread) => thread.remembers(session, version));
    if (known !== undefined) return known;
    if (owner.isHeld) return "later";
    const idle = free.find((thread) => !thread.holds);
    if (idle !== undefined) return idle;
    if (this.threads.length < this.options.workers) return this.start();
    return free.sort((one, other) => one.used - other.used)[0] ?? "none";
  }

  private start(): Thread {
    const thread = new Thread(this.options.packages, {
      gone: () => this.drop(thread),
      changed: () => this.next(),
    });
    this.threads.push(thread);
    return thread;
  }
}

/** What a thread knows of a session, and whether it is all there is of it. */
interface Known {
  readonly session: string;
  readonly version: number;
  readonly owner: Owner;
  readonly held: boolean;
}

/** Who is told what happens to a thread. */
interface Watcher {
  gone(): void;
  /** What it held was given back, or lost: whoever waits for that can go on. */
  changed(): void;
}

/** One thread, and what it is busy with. */
class Thread {
  private readonly worker: Worker;
  private readonly watcher: Watcher;
  private busy: { readonly settle: (message: FromWorker | Error) => void } | null = null;
  private known: Known | null = null;
  /** What it held when it was given another session, until it gives it back. */
  private leaving: Known | null = null;
  private readonly has = new Set<string>();
  private ended = false;
  /** When its last errand was done. */
  used = 0;

  constructor(packages: string, watcher: Watcher) {
    this.watcher = watcher;
    this.worker = new Worker(new URL("../bundle/worker.js", import.meta.url), {
      workerData: { packages },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, stackSizeMb: 8 },
      // A program's environment is its own affair.
      env: {},
      execArgv: [],
    });
    this.worker.unref();
    this.worker.on("message", (message: FromWorker) => this.take(message));
    // A report that cannot be read is the end of its execution, not of the thread.
    this.worker.on("messageerror", (error) => this.busy?.settle(error));
    this.worker.on("error", (error) => this.leave(error));
    this.worker.on("exit", () => this.leave(new Error("the thread ended")));
  }

  get free(): boolean {
    return this.busy === null && !this.ended;
  }

  /** Whether a program waits in it that nobody else has. */
  get holds(): boolean {
    return this.known?.held === true;
  }

  remembers(session: string, version: number): boolean {
    return this.known?.session === session && this.known.version === version;
  }

  forget(session: string): void {
    if (this.known?.session !== session) return;
    this.known = null;
    this.worker.postMessage({ kind: "forget", session } satisfies ToWorker);
  }

  async work(errand: Errand, key: string, parts: GuestParts, owner: Owner): Promise<Report> {
    const { session, version } = errand;
    const remembered = this.remembers(session, version);
    this.busy = { settle: () => {} };
    if (!remembered && this.holds) this.leaving = this.known;
    this.known = null;
    this.worker.ref();
    const started = performance.now();
    try {
      if (!this.has.has(key)) this.worker.postMessage({ kind: "parts", key, parts } satisfies ToWorker);
      this.has.add(key);
      const parked = remembered ? null : await owner.load();
      if (this.ended) throw new Error("the thread ended");
      const report = await this.watched({ ...errand, parked }, key, owner);
      const { left } = report;
      const held = left.kind === "held";
      const now = held ? left.version : left.kind === "parked" ? left.parked.version : null;
      this.known = report.remembered && now !== null ? { session, version: now, owner, held } : null;
      return report;
    } catch (error) {
      return lost(error as Error, performance.now() - started, new Controls(errand.controls).consumed);
    } finally {
      this.busy = null;
      this.used = performance.now();
      this.worker.unref();
      this.missing();
    }
  }

  /** A thread that was stopped before it gave back what it held will not do so any more. */
  private missing(): void {
    const { leaving } = this;
    this.leaving = null;
    leaving?.owner.lose(leaving.version, "the thread that held it did not give it back");
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.worker.terminate();
  }

  private take(message: FromWorker): void {
    const { leaving } = this;
    if (message.kind !== "parked" && message.kind !== "lost") {
      this.busy?.settle(message);
      return;
    }
    if (leaving?.session !== message.session) return;
    this.leaving = null;
    if (message.kind === "parked") leaving.owner.takeBack(message.parked);
    else leaving.owner.lose(leaving.version, message.message);
    this.watcher.changed();
  }

  private watched(errand: Errand, parts: string, owner: Owner): Promise<Report> {
    return new Promise((resolve, reject) => {
      let timer = setTimeout(() => stop("stuck"), BEGIN_MS);
      const stop = (why: "stuck" | "timeout") => {
        void this.end();
        this.leave(new Lost(why === "timeout" ? "timeout" : "trap", `the program did not end within its time`));
      };
      const wait = (ms: number, then: () => void): void => {
        clearTimeout(timer);
        timer = setTimeout(then, ms);
      };
      const late = () => {
        if (new Controls(errand.controls).asleep) wait(STOPPING_MS, () => stop("timeout"));
        else stop("timeout");
      };
      const end = (settled: () => void): void => {
        clearTimeout(timer);
        settled();
      };
      const settle = (message: FromWorker | Error): void => {
        if (message instanceof Error) end(() => reject(message));
        else if (message.kind === "started") wait(errand.timeout_ms + GRACE_MS, late);
        else if (message.kind === "stopping") wait(STOPPING_MS, () => stop("timeout"));
        else if (message.kind === "output" || message.kind === "warning") owner.hear(message);
        else if (message.kind === "report") end(() => resolve(message.report));
        else if (message.kind === "failed") end(() => reject(new Error(message.message)));
      };
      this.busy = { settle };
      this.worker.postMessage({ kind: "errand", errand, parts } satisfies ToWorker);
    });
  }

  private leave(error: Error): void {
    if (!this.ended || this.busy !== null) this.watcher.gone();
    this.ended = true;
    this.busy?.settle(error);
    const lost = [this.known, this.leaving].filter((known) => known?.held === true) as Known[];
    this.known = this.leaving = null;
    for (const { owner, version } of lost) owner.lose(version, error.message);
    if (lost.length > 0) this.watcher.changed();
  }
}

/** An execution that was lost with its thread. */
class Lost extends Error {
  readonly reason: Trap;

  constructor(reason: Trap, message: string) {
    super(message);
    this.reason = reason;
  }
}

function lost(error: Error, duration_ms: number, fuel_consumed: number): Report {
  const full = (error as { code?: unknown }).code === "ERR_WORKER_OUT_OF_MEMORY";
  const reason = error instanceof Lost ? error.reason : full ? "memory_limit" : "trap";
  const nothing = { bytes: new Uint8Array(), truncated: false };
  const outcome = { kind: "trapped", reason, message: error.message } as const;
  return {
    execution: { outcome, imports: [], fuel_consumed, memory_bytes: 0, memory_refused: 0 },
    stdout: nothing,
    stderr: nothing,
    duration_ms,
    files_created: [],
    files_modified: [],
    bytes_written: 0,
    bytes_refused: 0,
    left: { kind: "undone" },
    remembered: false,
  };
}
