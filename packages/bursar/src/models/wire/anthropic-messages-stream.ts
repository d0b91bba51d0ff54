import { Buffer } from "node:buffer";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { type AnswerClaims, claimsIn, joinedClaims, NO_CLAIMS } from "./answer-claims.js";
import { messagesUsage, usesInBlocks } from "./anthropic-usage.js";
import { eventText, LAST, SAME } from "./events.js";
import { objectOf, parsedObject } from "./json-object.js";
import type { EventReading, StreamReader, WireRequest } from "./protocol.js";
import { isSaid } from "./request-fields.js";
import { saidBytes } from "./said-bytes.js";

/** More blocks than any answer has are not told apart, so that a hostile provider cannot fill the memory. */
const MOST_BLOCKS = 4_096;

const COUNTS = [
  "input_tokens",
  "output_tokens",
  "output_tokens_details",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
  "server_tool_use",
];

/** Follows the events of one streamed message. */
export class MessagesStream implements StreamReader {
  claims: AnswerClaims = NO_CLAIMS;
  seen_bytes = 0;
  seen_tokens = 0;
  readonly #model: string;
  readonly #open = new Set<number>();
  /** Uses of tools that the provider runs. */
  readonly #tools: JsonObject[] = [];
  readonly #usage: Record<string, Json> = {};
  #stage: "before" | "started" | "stopping" | "over" = "before";

  constructor({ model }: WireRequest) {
    this.#model = model;
  }

  get usage(): StreamReader["usage"] {
    const counts = messagesUsage(this.#usage, usesInBlocks(this.#tools));
    return counts === null ? null : { counts, final: this.#stage === "stopping" || this.#stage === "over" };
  }

  read(event: string, data: string): EventReading {
    const value = parsedObject(data);
    if (value === null) {
      this.#see(Buffer.byteLength(data));
      return SAME;
    }
    switch (value.type ?? event) {
      case "message_start":
        this.#begin();
        this.#tell(objectOf(value.message).usage);
        this.claims = joinedClaims(this.claims, claimsIn(objectOf(value.message)));
        break;
      case "content_block_start":
        this.#begin();
        if (isCount(value.index) && this.#open.size < MOST_BLOCKS) this.#open.add(value.index);
        this.#see(saidBytes(value.content_block));
        this.#noteTool(objectOf(value.content_block));
        break;
      case "content_block_delta":
        this.#see(saidBytes(value.delta));
        break;
      case "content_block_stop":
        if (isCount(value.index)) this.#open.delete(value.index);
        break;
      case "message_delta":
        this.#tell(value.usage);
        this.claims = joinedClaims(this.claims, claimsIn(value));
        if (isSaid(objectOf(value.delta).stop_reason)) this.#stage = "stopping";
        break;
      case "message_stop":
        this.#stage = "over";
        return LAST;
      case "error":
        return LAST;
    }
    return SAME;
  }

  finish(): string {
    if (this.#stage === "over") return "";
    const events: JsonObject[] = [];
    if (this.#stage === "before") events.push({ type: "message_start", message: this.#emptyMessage() });
    for (const index of this.#open) events.push({ type: "content_block_stop", index });
    if (this.#stage !== "stopping") {
      const { output_tokens: told } = this.#usage;
      const output_tokens = Math.max(isCount(told) ? told : 0, this.seen_tokens);
      const delta = { stop_reason: "max_tokens", stop_sequence: null, stop_details: null };
      events.push({ type: "message_delta", delta, usage: { output_tokens } });
    }
    events.push({ type: "message_stop" });
    this.#open.clear();
    this.#stage = "over";
    return events.map((event) => eventText(String(event.type), event)).join("");
  }

  failure({ type, code, message }: { type: string; code: string; message: string }): string {
    return eventText("error", { type: "error", error: { type, code, message } });
  }

  #begin(): void {
    if (this.#stage === "before") this.#stage = "started";
  }

  /** Every count is told from the start of the message, so that later ones take the place of earlier ones. */
  #tell(usage: Json | undefined): void {
    const told = objectOf(usage);
    for (const key of COUNTS) if (isSaid(told[key])) this.#usage[key] = told[key];
  }

  #noteTool(block: JsonObject): void {
    if (block.type === "server_tool_use" && this.#tools.length < MOST_BLOCKS) this.#tools.push(block);
  }

  #see(bytes: number): void {
    if (bytes === 0) return;
    this.seen_bytes += bytes;
    this.seen_tokens += 1;
  }

  /** A message that ends before it has begun. */
  #emptyMessage(): JsonObject {
    const usage = { input_tokens: 0, output_tokens: 0 };
    const stop = { stop_reason: null, stop_sequence: null };
    return { id: "msg_bursar", type: "message", role: "assistant", model: this.#model, content: [], ...stop, usage };
  }
}
