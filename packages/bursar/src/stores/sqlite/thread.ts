import { Worker } from "node:worker_threads";
import { InputError } from "../../core/errors.js";
import type { Operation, Outcome } from "../../core/operation.js";
import type { Time } from "../../core/time.js";
import { StoreError } from "../durable/errors.js";
import { wholeOutcomes } from "./brief.js";
import type { FromWriter, Lookups, Reply, Request, ToWriter, WriterOptions } from "./messages.js";
import { unpack } from "./packed.js";

interface Waiting {
  readonly request: Request;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Our end of the thread that owns the file. Requests made in one turn of the event loop travel together. The thread keeps
 * the process alive only while somebody waits for an answer.
 */
export class Thread {
  private readonly worker: Worker;
  private readonly path: string;
  private readonly changed: () => void;
  private readonly waiting = new Map<number, Waiting>();
  private readonly opened: Promise<void>;
  private readonly exited: Promise<void>;
  private outgoing: Request[] = [];
  private next = 1;
  private closing = false;
  private ended: Error | null = null;

  constructor(options: WriterOptions, changed: () => void) {
    this.path = options.path;
    this.changed = changed;
    const execArgv = preloads(process.execArgv);
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: options, execArgv });
    this.opened = new Promise((resolve, reject) => {
      this.worker.on("message", (message: FromWriter) => {
        if ("replies" in message) this.answer(JSON.parse(message.replies) as readonly Reply[]);
        else if ("changed" in message) this.changed();
        else if ("ready" in message) resolve();
        else reject(unpack(message.failed));
      });
      this.worker.on("error", (error) => {
        reject(error);
        this.fail(error);
      });
      // It may end without a word, and nobody must wait for it then.
      this.worker.on("exit", () => reject(new StoreError("store_failed", `the thread of ${this.path} did not start`)));
    });
    this.exited = new Promise((resolve) => {
      this.worker.on("exit", () => {
        this.fail(new StoreError("store_closed", `the store ${this.path} is closed; open it again`));
        resolve();
      });
    });
  }

  async ready(): Promise<void> {
    try {
      await this.opened;
      this.rest();
    } catch (error) {
      await this.worker.terminate();
      throw error;
    }
  }

  apply(operations: readonly Operation[], time: Time): Promise<readonly Outcome[]> {
    return this.ask((id) => ({ id, operations, time })) as Promise<readonly Outcome[]>;
  }

  find<What extends keyof Lookups>(
    what: What,
    asked: Lookups[What]["asked"],
    time: Time,
  ): Promise<Lookups[What]["found"]> {
    return this.ask((id) => ({ id, what, asked, time })) as Promise<Lookups[What]["found"]>;
  }

  send(message: ToWriter): void {
    if (this.ended === null) this.worker.postMessage(message);
  }

  /** Everything asked for before is still answered. */
  async close(): Promise<void> {
    this.flush();
    // Whoever waits for the end must get to see it, so from now on the thread keeps the process alive.
    this.closing = true;
    this.worker.ref();
    this.send("close");
    await this.exited;
  }

  private ask(make: (id: number) => Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.ended !== null) return reject(this.ended);
      const id = this.next++;
      if (this.waiting.size === 0) this.worker.ref();
      const request = make(id);
      this.waiting.set(id, { request, resolve, reject });
      this.outgoing.push(request);
      if (this.outgoing.length === 1) queueMicrotask(() => this.flush());
    });
  }

  private flush(): void {
    const requests = this.outgoing;
    this.outgoing = [];
    if (requests.length === 0) return;
    try {
      this.send(requests);
    } catch {
      for (const request of requests) this.sendAlone(request);
    }
  }

  /** Finds out which one of several requests cannot travel, so that only that one fails. */
  private sendAlone(request: Request): void {
    try {
      this.send([request]);
    } catch (error) {
      const problem = `hold what cannot be kept: ${(error as Error).message}`;
      this.take(request.id)?.reject(new InputError("operations", problem));
    }
  }

  private answer(replies: readonly Reply[]): void {
    for (const { id, outcomes, found, error } of replies) {
      const waiting = this.take(id);
      if (waiting === undefined) continue;
      const { request, resolve, reject } = waiting;
      if (error !== undefined) reject(unpack(error));
      else if (outcomes !== undefined && "operations" in request) resolve(wholeOutcomes(outcomes, request.operations));
      else resolve(found);
    }
  }

  private take(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    this.rest();
    return waiting;
  }

  private rest(): void {
    if (this.waiting.size === 0 && !this.closing) this.worker.unref();
  }

  private fail(error: Error): void {
    this.ended ??= error;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

/**
 * What the process was told to load first, which the thread loads too. Threads take none of the flags that are for the whole
 * process, and one that says what stands on the command line would be applied to the thread's file.
 */
function preloads(flags: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < flags.length; at++) {
    const flag = flags[at] as string;
    if (/^(?:--import|--require)=/.test(flag)) kept.push(flag);
    else if (flag === "--import" || flag === "--require" || flag === "-r") kept.push(flag, flags[++at] ?? "");
  }
  return kept;
}
