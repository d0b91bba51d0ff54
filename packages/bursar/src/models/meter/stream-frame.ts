import { deferred } from "../../runtime/deferred.js";
import { whenDropped } from "./dropped.js";
import { drain, hangUp } from "./hang-up.js";

/** What becomes of a value that has come: what is passed on now, and whether more is wanted. */
export interface Taken<Value> {
  readonly pass: readonly Value[];
  /** `ended`: the last word has come. `capped`: it had more than it was granted, so the rest is not wanted. */
  readonly state: "running" | "ended" | "capped";
}

/**
 * The frame of a streamed answer on its way through: it passes on what comes no faster than it is read, and what ends it once
 * the call is settled. Who stops reading hangs up on the provider, and so does who drops the stream. So nothing here holds on to the
 * stream while nobody waits for it; who does wait may be held by nothing else.
 */
export class StreamFrame<Value> {
  private readonly source: ReadableStreamDefaultReader<Value>;
  private readonly take: (value: Value | null) => Taken<Value>;
  private readonly over = deferred<void>();
  /** It leads to its stream, and lives as long. */
  private controller: WeakRef<ReadableStreamDefaultController<Value>> | null = null;
  /** The same while somebody waits for a value, or for the end. */
  private awaited: ReadableStreamDefaultController<Value> | null = null;
  private ended = false;

  /** `take` is given each value, and null when the other side has closed. */
  constructor(source: ReadableStream<Value>, take: (value: Value | null) => Taken<Value>) {
    this.source = source.getReader();
    this.take = take;
  }

  /** The stream for whoever reads it, once. */
  openStream(): ReadableStream<Value> {
    const stream = new ReadableStream<Value>(
      {
        start: (controller) => {
          this.controller = new WeakRef(controller);
        },
        pull: (controller) => this.pull(controller),
        cancel: () => this.leave(),
      },
      { highWaterMark: 0 },
    );
    whenDropped(stream, () => {
      if (!this.ended) void this.leave();
    });
    return stream;
  }

  /** Settled when nothing more is to come, or nobody reads it any more. */
  get read(): Promise<void> {
    return this.over.promise;
  }

  /** Passes on the last values, and closes. Whatever ends it first counts. */
  close(last: Iterable<Value>): void {
    this.end(drain, (controller) => {
      for (const value of last) controller.enqueue(value);
      controller.close();
    });
  }

  /** Lets whoever reads it fail. */
  fail(error: unknown): void {
    this.end(hangUp, (controller) => controller.error(error));
  }

  private end(
    leave: (source: ReadableStreamDefaultReader<unknown>) => Promise<void>,
    work: (controller: ReadableStreamDefaultController<Value>) => void,
  ): void {
    if (this.ended || this.controller === null) return;
    this.ended = true;
    const controller = this.awaited ?? this.controller.deref();
    this.awaited = null;
    try {
      if (controller !== undefined) work(controller);
    } catch {
      // Whoever read it has left.
    }
    void leave(this.source);
  }

  private async pull(controller: ReadableStreamDefaultController<Value>): Promise<void> {
    this.awaited = controller;
    try {
      for (;;) {
        const { done, value } = await this.source.read();
        const { pass, state } = this.take(done ? null : value);
        for (const each of pass) controller.enqueue(each);
        if (state === "capped") await hangUp(this.source);
        if (done || state !== "running") return this.over.resolve();
        if (pass.length === 0) continue;
        this.awaited = null;
        return;
      }
    } catch (error) {
      this.over.reject(error);
    }
  }

  private async leave(): Promise<void> {
    this.over.resolve();
    await hangUp(this.source);
  }
}
