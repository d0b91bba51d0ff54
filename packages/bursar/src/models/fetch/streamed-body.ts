import type { Held, MeteredRequest } from "../meter/meter.js";
import { StreamFrame, type Taken } from "../meter/stream-frame.js";
import { StreamedAnswer } from "../meter/streamed-answer.js";
import { isOutOfTime } from "../meter/told-error.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { claimedBy } from "./claimed.js";
import { ProcessEnding } from "./process-ending.js";

/** A response whose body is a stream. */
export type Streamed = Response & { readonly body: ReadableStream<Uint8Array> };

/** The body of a streamed answer, byte by byte as it came. Who stops reading is charged for what was seen. */
export class StreamedBody {
  private readonly answer: StreamedAnswer;
  private readonly frame: StreamFrame<Uint8Array>;
  /** Whether it stays as it is for good, for a program that is as good as dead. */
  private frozen = false;

  constructor({ protocol, wire }: MeteredRequest, sent: Headers, { body, headers }: Streamed, held: Held) {
    this.answer = new StreamedAnswer(wire, protocol.stream(wire), held.output_tokens);
    this.frame = new StreamFrame(body, (bytes) => this.take(bytes));
    held.follow(
      () => this.answer.bound,
      () => this.answer.final,
      () => claimedBy(sent, headers, this.answer.claims),
    );
  }

  /** For whoever reads it; nothing here holds on to it. */
  openStream(): ReadableStream<Uint8Array> {
    return this.frame.openStream();
  }

  /** Waits until all of it was read, and tells what the provider says it used; null when it has not said so. */
  async read(): Promise<TokenCounts | null> {
    await this.frame.read;
    return this.answer.counts;
  }

  /** Passes on what ends the stream. */
  end(error: unknown): void {
    this.frozen ||= error instanceof ProcessEnding;
    if (this.frozen) return;
    const { last } = this.answer;
    if (error === null) this.frame.close(last);
    else if (isOutOfTime(error)) {
      const code = "budget_exceeded";
      const failure = this.answer.failure({ type: code, code, message: error.message });
      this.frame.close([failure, ...last]);
    } else this.frame.fail(error);
  }

  private take(bytes: Uint8Array | null): Taken<Uint8Array> {
    const { answer } = this;
    if (bytes !== null) return { pass: answer.push(bytes), state: answer.state };
    const rest = answer.rest();
    return { pass: rest === null || answer.state !== "running" ? [] : [rest], state: answer.state };
  }
}
