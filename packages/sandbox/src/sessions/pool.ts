import { Worker } from "node:worker_threads";
import type { Trap } from "../wasm/outcome.js";
import { Controls, type Errand, type FromWorker, type Report, type ToWorker } from "./errand.js";
import type { GuestParts, PartsMaker } from "./parts.js";

/** A errand that was handed in, and whoever waits for it. */
interface Waiting {
  readonly errand: Errand;
  readonly parts: GuestParts;
  readonly resolve: (report: Report) => void;
  readonly reject: (error: Error) => void;
}

/** After so long beyond its deadline a guest that does not look at the clock is ended with its thread. */
const GRACE_MS = 5;
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
 * busy with notices: between executions sessions live outside of the threads.
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

  async run(errand: Errand): Promise<Report> {
    if (this.closed) throw new Error("the sandbox is closed; open it again");
    if (this.waiting.length >= MOST_WAITING) throw new Error("too many executions wait already; try again later");
    const parts = await this.options.parts.make(errand.setup);
    return new Promise((resolve, reject) => {
      this.waiting.push({ errand, parts, resolve, reject });
      this.next();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    for (const { reject } of this.waiting) reject(new Error("the sandbox was closed"));
    this.waiting = [];
    await Promise.all(this.threads.map((thread) => thread.end()));
  }

  private next(): void {
    const [first] = this.waiting;
    if (first === undefined || this.closed) return;
    const thread = this.threadFor(first.errand);
    if (thread === null) return;
    this.waiting.shift();
    const { errand, parts, resolve, reject } = first;
    const work = thread.work(errand, this.options.parts.keyOf(errand.setup), parts);
    void work.then(resolve, reject).finally(() => this.next());
    this.next();
  }

  private forget(thread: Thread): void {
    const at = this.threads.indexOf(thread);
    if (at >= 0) this.threads.splice(at, 1);
  }

  /** The thread that knows the session, else one that is free, else a new one; null when all are busy. */
  private threadFor({ session, version }: Errand): Thread | null {
    const free = this.threads.filter((thread) => thread.free);
    const known = free.find((thread) => thread.remembers(session, version)) ?? free[0];
    if (known !== undefined) return known;
    return this.threads.length >= this.options.workers ? null : this.start();
  }

  private start(): Thread {
    const thread = new Thread(this.options.packages, () => this.forget(thread));
    this.threads.push(thread);
    return thread;
  }
}

/** One thread, and what it is busy with. */
class Thread {
  private readonly worker: Worker;
  private readonly gone: () => void;
  private busy: { readonly settle: (message: FromWorker | Error) => void } | null = null;
  private known: { readonly session: string; readonly version: number } | null = null;
  private readonly has = new Set<string>();
  private ended = false;

  constructor(packages: string, gone: () => void) {
    this.gone = gone;
    this.worker = new Worker(new URL("../bundle/worker.js", import.meta.url), {
      workerData: { packages },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, stackSizeMb: 8 },
      // A program's environment is its own affair.
      env: {},
      execArgv: [],
    });
    this.worker.unref();
    this.worker.on("message", (message: FromWorker) => this.busy?.settle(message));
    // A report that cannot be read is the end of its execution, not of the thread.
    this.worker.on("messageerror", (error) => this.busy?.settle(error));
    this.worker.on("error", (error) => this.leave(error));
    this.worker.on("exit", () => this.leave(new Error("the thread ended")));
  }

  get free(): boolean {
    return this.busy === null && !this.ended;
  }

  remembers(session: string, version: number): boolean {
    return this.known?.session === session && this.known.version === version;
  }

  async work(errand: Errand, key: string, parts: GuestParts): Promise<Report> {
    const { session, version } = errand;
    if (!this.has.has(key)) this.worker.postMessage({ kind: "parts", key, parts } satisfies ToWorker);
    this.has.add(key);
    this.worker.ref();
    const started = performance.now();
    const parked = this.remembers(session, version) ? null : errand.parked;
    this.known = null;
    try {
      const report = await this.watched({ ...errand, parked }, key);
      this.known = report.remembered && report.parked !== null ? { session, version: report.parked.version } : null;
      return report;
    } catch (error) {
      return lost(error as Error, performance.now() - started, new Controls(errand.controls).consumed);
    } finally {
      this.busy = null;
      this.worker.unref();
    }
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.worker.terminate();
  }

  private watched(errand: Errand, parts: string): Promise<Report> {
    return new Promise((resolve, reject) => {
      let timer = setTimeout(() => stop("stuck"), BEGIN_MS);
      const stop = (why: "stuck" | "timeout") => {
        void this.end();
        this.leave(new Lost(why === "timeout" ? "timeout" : "trap", `the program did not end within its time`));
      };
      const settle = (message: FromWorker | Error) => {
        if (message instanceof Error) reject(message);
        else if (message.kind === "started") {
          clearTimeout(timer);
          timer = setTimeout(() => stop("timeout"), errand.timeout_ms + GRACE_MS);
          return;
        } else if (message.kind === "report") resolve(message.report);
        else if (message.kind === "failed") reject(new Error(message.message));
        else return;
        clearTimeout(timer);
      };
      this.busy = { settle };
      this.worker.postMessage({ kind: "errand", errand, parts } satisfies ToWorker);
    });
  }

  private leave(error: Error): void {
    if (!this.ended || this.busy !== null) this.gone();
    this.ended = true;
    this.busy?.settle(error);
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
    execution: { outcome, imports: [], fuel_consumed, memory_bytes: 0 },
    stdout: nothing,
    stderr: nothing,
    duration_ms,
    files_created: [],
    files_modified: [],
    bytes_written: 0,
    parked: null,
    remembered: false,
  };
}
