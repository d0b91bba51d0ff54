import type { AnswerClaims } from "../wire/answer-claims.js";
import { SAME } from "../wire/events.js";
import { parsedObject } from "../wire/json-object.js";
import { PassedOn } from "../wire/passed-on.js";
import type { EventReading, StreamReader, WireRequest } from "../wire/protocol.js";
import { type SseEvent, SseSplitter } from "../wire/sse.js";
import type { TokenCounts } from "../wire/token-counts.js";
import type { Seen } from "./meter.js";

/** The ends of streams that have not said all they had to say. */
const FAILURES: ReadonlySet<unknown> = new Set(["error", "response.failed"]);

/** What was on its way when a stream was broken off is paid for too; so much is added to what was seen. */
const SLACK_TOKENS = 256;

/**
 * One streamed answer on its way through: what may be passed on, what it has used, and when to cut it off. The event that ends it
 * is kept back until the call is settled, so that whoever has read it to its end finds it in the books.
 */
export class StreamedAnswer {
  /**
   * - `running`: more is to come.
   * - `ended`: the last event has come; it is kept back.
   * - `capped`: it had more than it was granted, so the rest is not wanted; what ends it cleanly is kept back.
   */
  state: "running" | "ended" | "capped" = "running";
  private readonly reader: StreamReader;
  private readonly hidden: boolean;
  private readonly most: number;
  private readonly splitter = new SseSplitter();
  private readonly kept: Uint8Array[] = [];
  /** The provider has said its last word, and it was no failure. */
  private whole = false;

  constructor(wire: WireRequest, reader: StreamReader, most: number) {
    this.reader = reader;
    this.hidden = wire.hidden;
    this.most = most;
  }

  /** Takes the next bytes, and gives what may be passed on now. */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    const passed = new PassedOn();
    for (const event of this.splitter.push(bytes)) {
      if (this.state === "capped") break;
      const { pass, last } = event.data === null ? SAME : this.reader.read(event.event, event.data);
      if (last) {
        this.state = "ended";
        this.whole = !isFailure(event);
      }
      if (this.state !== "running") this.keep(event, pass);
      else if (pass === "same") passed.add(event);
      else if (pass !== null) passed.put(Buffer.from(pass));
      if (this.state === "running" && this.reader.seen_tokens > this.most) {
        this.state = "capped";
        this.kept.push(Buffer.from(this.reader.finish()));
      }
    }
    return passed.end();
  }

  private keep(event: SseEvent, pass: EventReading["pass"]): void {
    if (pass !== null) this.kept.push(pass === "same" ? event.bytes : Buffer.from(pass));
  }

  /** The other side has closed: what is left of an event that did not end. */
  rest(): Uint8Array | null {
    return this.splitter.end()?.bytes ?? null;
  }

  /** What was kept back. */
  get last(): readonly Uint8Array[] {
    return this.kept;
  }

  /** What the provider has said for good; null when it has not. Of an answer that was cut off nobody knows the end. */
  get counts(): TokenCounts | null {
    const { usage } = this.reader;
    if (this.state === "capped") return null;
    return usage?.final === true ? usage.counts : null;
  }

  /** The same of an answer that is whole, whatever became of the call since: before its last word more may have come. */
  get final(): TokenCounts | null {
    return this.whole ? this.counts : null;
  }

  /** What it has said of its price so far. */
  get claims(): AnswerClaims {
    return this.reader.claims;
  }

  /** What bounds its usage where that is not told: nothing that was seen, when it is whole, because then all was on its way. */
  get bound(): Seen | null {
    return this.whole ? null : this.seen;
  }

  /** The most it can have used if it is broken off now. */
  get seen(): Seen {
    const reported = this.reader.usage?.counts ?? null;
    const bytes = Math.max(reported?.output ?? 0, this.reader.seen_bytes + SLACK_TOKENS);
    const output = this.hidden ? this.most : Math.min(this.most, bytes);
    // Who gives more than was granted is paid for more.
    return { reported, output: Math.max(output, this.reader.seen_tokens, reported?.output ?? 0) };
  }

  /** An event that tells of a failure on the way. */
  failure(error: { readonly type: string; readonly code: string; readonly message: string }): Uint8Array {
    return Buffer.from(this.reader.failure(error));
  }
}

function isFailure({ event, data }: SseEvent): boolean {
  const { type = event, error = null } = parsedObject(data ?? "") ?? {};
  return FAILURES.has(type) || error !== null;
}
