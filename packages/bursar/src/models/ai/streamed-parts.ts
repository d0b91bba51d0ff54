import { Buffer } from "node:buffer";
import { deferred } from "../../runtime/deferred.js";
import type { Held, Seen } from "../meter/meter.js";
import { keepItem } from "../wire/kept-items.js";
import type { WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { nameOfThought } from "./item-name.js";
import { reportedUsage } from "./reported-usage.js";
import type { SdkStreamPart } from "./sdk-model.js";

/** What was on its way when a stream was broken off is paid for too; so much is added to what was seen. */
const SLACK_TOKENS = 256;
/** A part holds a token at least, unless somebody has cut tokens into pieces on the way: then it takes more bytes to be sure. */
const BYTES_PER_TOKEN = 4;
const MOST_READS = 16;

const ENDS: Readonly<Record<string, string>> = {
  ...{ "text-start": "text-end", "reasoning-start": "reasoning-end", "tool-input-start": "tool-input-end" },
};

/**
 * The parts of a streamed answer: they are passed on as they are asked for, and the last one once the call is settled, so that
 * whoever has read it to its end finds it in the books. Who stops reading hangs up on the provider, and the call is charged for
 * what was seen.
 */
export class StreamedParts {
  readonly stream: ReadableStream<SdkStreamPart>;
  private readonly wire: WireRequest;
  private readonly version: string;
  private readonly most: number;
  private readonly source: ReadableStreamDefaultReader<SdkStreamPart>;
  private readonly over = deferred<void>();
  private readonly kept: SdkStreamPart[] = [];
  /** What was begun and has not ended, with the type of what ends it. */
  private readonly open = new Map<string, string>();
  private readonly thoughts = new Set<string>();
  private controller: ReadableStreamDefaultController<SdkStreamPart> | null = null;
  private reported: TokenCounts | null = null;
  private counts: TokenCounts | null = null;
  private bytes = 0;
  private parts = 0;
  private ended = false;

  constructor(source: ReadableStream<SdkStreamPart>, wire: WireRequest, held: Held, version: string) {
    this.wire = wire;
    this.version = version;
    this.most = held.output_tokens;
    this.source = source.getReader();
    held.follow(() => this.seen);
    this.stream = new ReadableStream<SdkStreamPart>(
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
    const output = this.counts?.output ?? Math.max(this.most, this.surely);
    for (const name of this.thoughts) keepItem(name, output);
    return this.counts;
  }

  /** Passes on what ends the stream. */
  end(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    try {
      if (error !== null) this.controller?.error(error);
      else {
        for (const part of this.kept) this.controller?.enqueue(part);
        this.controller?.close();
      }
    } catch {
      // Whoever read it has left.
    } finally {
      void this.drain(error !== null);
    }
  }

  private get seen(): Seen {
    const seen = this.bytes + SLACK_TOKENS;
    const output = this.wire.hidden ? this.most : Math.min(this.most, seen);
    // Who gives more than was granted is paid for more.
    return { reported: this.reported, output: Math.max(output, this.surely) };
  }

  /** Tokens that were certainly produced so far. */
  private get surely(): number {
    return Math.min(this.parts, Math.floor(this.bytes / BYTES_PER_TOKEN));
  }

  private async pull(): Promise<void> {
    try {
      const { done, value } = await this.source.read();
      if (done) return this.over.resolve();
      if (value.type === "finish") {
        this.counts = reportedUsage(value, this.wire);
        this.kept.push(value);
        return this.over.resolve();
      }
      this.look(value);
      this.controller?.enqueue(value);
      if (this.surely > this.most) await this.cap();
    } catch (error) {
      this.over.reject(error);
    }
  }

  private look(part: SdkStreamPart): void {
    const { type, id = "", delta } = part;
    // Anthropic's messages tell their input when they begin; since version 4 that can be seen.
    if (part.kind === "anthropic.message_start") this.reported = reportedUsage(part, this.wire);
    const thought = nameOfThought(part);
    if (thought !== null) this.thoughts.add(thought);
    const end = ENDS[type];
    if (end !== undefined) this.open.set(`${end} ${id}`, end);
    this.open.delete(`${type} ${id}`);
    if (typeof delta !== "string" || delta === "") return;
    this.parts++;
    this.bytes += Buffer.byteLength(delta);
  }

  /** It had more than it was granted: the rest is not wanted, and what was begun is ended cleanly. */
  private async cap(): Promise<void> {
    await this.source.cancel().catch(() => {});
    for (const [key, type] of this.open) this.kept.push({ type, id: key.slice(type.length + 1) });
    this.kept.push(finishAtLimit(this.version));
    this.over.resolve();
  }

  private async leave(): Promise<void> {
    this.over.resolve();
    await this.source.cancel().catch(() => {});
  }

  /** Reads what is left, so that the connection can serve again; who has more to say after his last word is hung up on. */
  private async drain(broken: boolean): Promise<void> {
    try {
      for (let reads = 0; reads < MOST_READS && !broken; reads++) if ((await this.source.read()).done) return;
      await this.source.cancel();
    } catch {
      // It is over either way.
    }
  }
}

/** The part that ends an answer at its limit, as each version writes it. Nobody knows what it has used. */
function finishAtLimit(version: string): SdkStreamPart {
  if (version === "v2") {
    const usage = { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined };
    return { type: "finish", finishReason: "length", usage } as SdkStreamPart;
  }
  const usage = {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  };
  return { type: "finish", finishReason: { unified: "length", raw: undefined }, usage } as SdkStreamPart;
}
