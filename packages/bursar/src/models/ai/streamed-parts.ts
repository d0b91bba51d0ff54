import { Buffer } from "node:buffer";
import type { Held, Seen } from "../meter/meter.js";
import { StreamFrame, type Taken } from "../meter/stream-frame.js";
import { type AnswerClaims, joinedClaims } from "../wire/answer-claims.js";
import { keepItem } from "../wire/kept-items.js";
import type { WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { nameOfThought } from "./item-name.js";
import { reportedUsage } from "./reported-usage.js";
import { sdkClaims } from "./sdk-claims.js";
import type { SdkStreamed, SdkStreamPart } from "./sdk-model.js";

/** What was on its way when a stream was broken off is paid for too; so much is added to what was seen. */
const SLACK_TOKENS = 256;
/** A part holds a token at least, unless somebody has cut tokens into pieces on the way: then it takes more bytes to be sure. */
const BYTES_PER_TOKEN = 4;

const ENDS: Readonly<Record<string, string>> = {
  "text-start": "text-end",
  "reasoning-start": "reasoning-end",
  "tool-input-start": "tool-input-end",
};

/**
 * The parts of a streamed answer. The last one is kept back until the call is settled, so that whoever has read it to its end
 * finds it in the books. Who stops reading is charged for what was seen.
 */
export class StreamedParts {
  private readonly wire: WireRequest;
  private readonly version: string;
  private readonly most: number;
  private readonly frame: StreamFrame<SdkStreamPart>;
  private readonly kept: SdkStreamPart[] = [];
  /** What was begun and has not ended, with the type of what ends it. */
  private readonly open = new Map<string, string>();
  private readonly thoughts = new Set<string>();
  private reported: TokenCounts | null = null;
  private counts: TokenCounts | null = null;
  private claims: AnswerClaims;
  private bytes = 0;
  private parts = 0;

  constructor({ stream, response }: SdkStreamed, wire: WireRequest, held: Held, version: string) {
    this.wire = wire;
    this.version = version;
    this.claims = sdkClaims({ response });
    this.most = held.output_tokens;
    this.frame = new StreamFrame(stream, (part) => this.take(part));
    held.follow(
      () => this.seen,
      () => this.counts,
      () => this.claims,
    );
  }

  /** For whoever reads it; nothing here holds on to it. */
  openStream(): ReadableStream<SdkStreamPart> {
    return this.frame.openStream();
  }

  /** Waits until all of it was read, and tells what the provider says it used; null when it has not said so. */
  async read(): Promise<TokenCounts | null> {
    await this.frame.read;
    const output = this.counts?.output ?? Math.max(this.most, this.surely);
    for (const name of this.thoughts) keepItem(name, output);
    return this.counts;
  }

  /** Passes on what ends the stream. */
  end(error: unknown): void {
    if (error === null) this.frame.close(this.kept);
    else this.frame.fail(error);
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

  private take(part: SdkStreamPart | null): Taken<SdkStreamPart> {
    if (part === null) return { pass: [], state: "ended" };
    if (part.type === "finish") {
      this.counts = reportedUsage(part, this.wire);
      this.claims = joinedClaims(this.claims, sdkClaims(part));
      this.kept.push(part);
      return { pass: [], state: "ended" };
    }
    this.look(part);
    if (this.surely <= this.most) return { pass: [part], state: "running" };
    this.cap();
    return { pass: [part], state: "capped" };
  }

  private look(part: SdkStreamPart): void {
    const { type, id = "", delta } = part;
    if (type === "response-metadata") {
      this.claims = joinedClaims(this.claims, sdkClaims({ response: { modelId: part.modelId } }));
    }
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
  private cap(): void {
    for (const [key, type] of this.open) this.kept.push({ type, id: key.slice(type.length + 1) });
    this.kept.push(finishAtLimit(this.version));
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
