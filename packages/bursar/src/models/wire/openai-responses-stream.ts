import { Buffer } from "node:buffer";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { type AnswerClaims, claimsIn, joinedClaims, NO_CLAIMS } from "./answer-claims.js";
import { eventText, LAST, SAME } from "./events.js";
import { someUses } from "./hosted-tools.js";
import { objectOf, parsedObject } from "./json-object.js";
import { keepResponse } from "./kept-items.js";
import { OpenItem } from "./openai-responses-item.js";
import { responsesUsage, usesInResponse } from "./openai-usage.js";
import type { EventReading, StreamReader, WireRequest } from "./protocol.js";
import { saidBytes } from "./said-bytes.js";
import type { TokenCounts, ToolUses } from "./token-counts.js";

/** More items than any answer has are not told apart, so that a hostile provider cannot fill the memory. */
const MOST_ITEMS = 1_024;

/** What is kept of an answer in order to end it: no longer answer is worth its memory, and ends with what is kept. */
const MOST_KEPT = 4 * 1024 * 1024;

const ENDS: ReadonlySet<Json | undefined> = new Set(["response.completed", "response.incomplete", "response.failed"]);
const BEGINS: ReadonlySet<Json | undefined> = new Set(["response.created", "response.queued", "response.in_progress"]);

/** Follows the events of one streamed response. */
export class ResponsesStream implements StreamReader {
  claims: AnswerClaims = NO_CLAIMS;
  seen_bytes = 0;
  seen_tokens = 0;
  readonly #model: string;
  readonly #items = new Map<number, OpenItem>();
  /** The response as it was told when it began. */
  #response: JsonObject | null = null;
  #counts: TokenCounts | null = null;
  #next = 0;
  #over = false;

  constructor({ model }: WireRequest) {
    this.#model = model;
  }

  get usage(): StreamReader["usage"] {
    return this.#counts === null ? null : { counts: this.#counts, final: this.#over };
  }

  read(event: string, data: string): EventReading {
    // Some servers close every stream the way completions do.
    if (data.startsWith("[DONE]")) return LAST;
    const value = parsedObject(data);
    if (value === null) {
      this.#see(Buffer.byteLength(data));
      return SAME;
    }
    const { sequence_number: number } = value;
    this.#next = isCount(number) ? number + 1 : this.#next + 1;
    const type = value.type ?? event;
    if (type === "error") return LAST;
    if (BEGINS.has(type) || ENDS.has(type)) this.claims = joinedClaims(this.claims, claimsIn(objectOf(value.response)));
    if (BEGINS.has(type)) this.#response = objectOf(value.response);
    else if (ENDS.has(type)) {
      this.#over = true;
      const response = objectOf(value.response);
      this.#counts = responsesUsage(response.usage, this.#uses(response));
      keepResponse(response, this.#counts);
      if (this.seen_bytes === 0) this.#see(saidBytes(objectOf(value.response).output));
      return LAST;
    } else if (typeof type === "string") this.#readOutput(type, value);
    return SAME;
  }

  finish(): string {
    if (this.#over) return "";
    const events: JsonObject[] = [];
    const begun = this.#response ?? this.#emptyResponse();
    if (this.#response === null) events.push({ type: "response.created", response: begun });
    const places = [...this.#items.keys()].sort((a, b) => a - b);
    const output: JsonObject[] = [];
    for (const place of places) {
      const item = this.#items.get(place);
      if (item === undefined) continue;
      events.push(...item.close(place));
      output.push(item.item);
    }
    const response = { ...begun, status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output };
    events.push({ type: "response.incomplete", response });
    this.#over = true;
    return events.map((each) => eventText(String(each.type), { ...each, sequence_number: this.#next++ })).join("");
  }

  /** Said twice, because clients look for it in one place or the other. */
  failure({ type, code, message }: { type: string; code: string; message: string }): string {
    const error = { type, code, message, param: null };
    return eventText("error", { type: "error", code, message, param: null, error, sequence_number: this.#next++ });
  }

  /** By the items that came, or by those that the whole has at its end: some servers leave them out there. */
  #uses(response: JsonObject): ToolUses | undefined {
    const output = [...this.#items.values()].map(({ item }) => item);
    const seen = usesInResponse({ output }) ?? {};
    const told = usesInResponse(response) ?? {};
    return someUses({
      web_search: Math.max(seen.web_search ?? 0, told.web_search ?? 0),
      file_search: Math.max(seen.file_search ?? 0, told.file_search ?? 0),
    });
  }

  #readOutput(type: string, value: JsonObject): void {
    const place = isCount(value.output_index) ? Math.min(value.output_index, MOST_ITEMS) : 0;
    if (type === "response.output_item.added") this.#items.set(place, new OpenItem(objectOf(value.item)));
    const item = this.#items.get(place);
    const bytes = bytesIn(type, value, item?.seen_bytes ?? 0);
    this.#see(bytes);
    if (item === undefined) return;
    item.seen_bytes += bytes;
    if (this.seen_bytes <= MOST_KEPT) item.read(type, value);
  }

  #see(bytes: number): void {
    if (bytes === 0) return;
    this.seen_bytes += bytes;
    this.seen_tokens += 1;
  }

  /** A response that ends before it has begun. */
  #emptyResponse(): JsonObject {
    const about = { id: "resp_bursar", object: "response", created_at: 0, status: "in_progress", model: this.#model };
    const none = { error: null, incomplete_details: null, instructions: null, metadata: {}, usage: null };
    const plain = { parallel_tool_calls: true, temperature: null, tool_choice: "auto", tools: [], top_p: null };
    return { ...about, ...none, ...plain, output: [] };
  }
}

/** How much output an event brings. A whole item counts with what no delta has told of it: some servers send items at once. */
function bytesIn(type: string, value: JsonObject, seen: number): number {
  if (type.endsWith(".delta")) return saidBytes(value.delta);
  if (type === "response.output_item.added") return saidBytes(value.item);
  return type === "response.output_item.done" ? Math.max(0, saidBytes(value.item) - seen) : 0;
}
