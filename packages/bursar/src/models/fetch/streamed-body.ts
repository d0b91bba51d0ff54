import { deferred } from "../../runtime/deferred.js";
import type { Held, MeteredRequest } from "../meter/meter.js";
import { StreamedAnswer } from "../meter/streamed-answer.js";
import { isOutOfTime } from "../meter/told-error.js";
import type { TokenCounts } from "../wire/token-counts.js";

const DRAIN_MS = 1000;
const MOST_READS = 16;

/**
 * The body of a streamed answer: it passes on what comes as fast as it is read, and its last event once the call is settled. Who
 * stops reading hangs up on the provider, and the call is charged for what was seen.
 */
export class StreamedBody {
  readonly body: ReadableStream<Uint8Array>;
  private readonly answer: StreamedAnswer;
  private readonly source: ReadableStreamDefaultReader<Uint8Array>;
  private readonly over = deferred<void>();
  private controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  private ended = false;

  constructor({ protocol, wire }: MeteredRequest, source: ReadableStream<Uint8Array>, held: Held) {
    this.answer = new StreamedAnswer(wire, protocol.stream(wire), held.output_tokens);
    this.source = source.getReader();
    held.follow(() => this.answer.bound);
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        pull: () => this.pull(),
        cancel: () => this.leave(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Waits until all of it was read, and tells what the provider says it used; null when it has not said so. */
  async read(): Promise<TokenCounts | null> {
    await this.over.promise;
    return this.answer.counts;
  }

  /** Passes on what ends the stream. */
  end(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    try {
      if (isOutOfTime(error)) {
        const { message } = error;
        const code = "budget_exceeded";
        this.controller?.enqueue(this.answer.failure({ type: code, code, message }));
      } else if (error !== null) {
        this.controller?.error(error);
        return;
      }
      for (const bytes of this.answer.last) this.controller?.enqueue(bytes);
      this.controller?.close();
    } catch {
      // Whoever read it has left.
    } finally {
      void this.drain();
    }
  }

  /** Reads what is left, so that the connection can serve again; who has more to say after his last word is hung up on. */
  private async drain(): Promise<void> {
    const patience = setTimeout(() => void this.source.cancel().catch(() => {}), DRAIN_MS);
    patience.unref();
    try {
      for (let reads = 0; reads < MOST_READS; reads++) if ((await this.source.read()).done) return;
      await this.source.cancel();
    } catch {
      // It is over either way.
    } finally {
      clearTimeout(patience);
    }
  }

  private async pull(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.source.read();
        if (done) {
          const rest = this.answer.rest();
          if (rest !== null && this.answer.state === "running") this.controller?.enqueue(rest);
          return this.over.resolve();
        }
        const passed = this.answer.push(value);
        for (const bytes of passed) this.controller?.enqueue(bytes);
        if (this.answer.state === "capped") await this.source.cancel();
        if (this.answer.state !== "running") return this.over.resolve();
        if (passed.length > 0) return;
      }
    } catch (error) {
      this.over.reject(error);
    }
  }

  private async leave(): Promise<void> {
    this.over.resolve();
    await this.source.cancel();
  }
}
