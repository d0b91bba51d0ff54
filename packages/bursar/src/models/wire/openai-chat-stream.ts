import { Buffer } from "node:buffer";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { type AnswerClaims, claimsIn, joinedClaims, NO_CLAIMS } from "./answer-claims.js";
import { ChunkForm } from "./chunk-form.js";
import { eventText, LAST, SAME } from "./events.js";
import { listOf, objectOf, parsedObject } from "./json-object.js";
import { chatUsage } from "./openai-usage.js";
import type { EventReading, StreamReader, WireRequest } from "./protocol.js";
import { isSaid } from "./request-fields.js";
import { saidBytes } from "./said-bytes.js";
import type { TokenCounts } from "./token-counts.js";

const NOTHING: EventReading = { pass: null, last: false };

/** More choices than any request may ask for are not told apart, so that a hostile provider cannot fill the memory. */
const MOST_CHOICES = 1024;

/** To find out how chunks are written takes nearly as long as to read one, so that it is done no more often, however they change. */
const MOST_FORMS = 8;

interface Choice {
  hasRole: boolean;
  finished: boolean;
}

/** Follows the chunks of one streamed completion. */
export class ChatStream implements StreamReader {
  claims: AnswerClaims = NO_CLAIMS;
  seen_bytes = 0;
  seen_tokens = 0;
  /** Whether the usage was asked for by us alone, so that the chunk which tells it is not the caller's. */
  readonly #strips: boolean;
  readonly #model: string;
  readonly #answers: number;
  readonly #choices = new Map<number, Choice>();
  #head: JsonObject = {};
  #counts: TokenCounts | null = null;
  #done = false;
  /** How the chunks are written; null as long as nobody knows. */
  #form: ChunkForm | null = null;
  #forms = 0;

  constructor({ model, answers, usage_added = false }: WireRequest) {
    this.#model = model;
    this.#answers = answers;
    this.#strips = usage_added;
  }

  get usage(): StreamReader["usage"] {
    return this.#counts === null ? null : { counts: this.#counts, final: this.#done || this.#isFinished };
  }

  read(_event: string, data: string): EventReading {
    const said = this.#form === null ? -1 : this.#form.bytesIn(data);
    // It says what the chunk that the form was found in says, and that was read; only what was said is new.
    if (said !== -1) {
      this.#see(said);
      return SAME;
    }
    if (data.startsWith("[DONE]")) {
      this.#done = true;
      return LAST;
    }
    const chunk = parsedObject(data);
    if (chunk === null) {
      this.#see(Buffer.byteLength(data));
      return SAME;
    }
    if (isSaid(chunk.error)) return LAST;
    if (this.#forms < MOST_FORMS) {
      this.#forms++;
      this.#form = ChunkForm.of(data, chunk) ?? this.#form;
    }
    return this.#readChunk(chunk);
  }

  finish(): string {
    if (this.#done) return "";
    if (this.#choices.size === 0) this.#choiceAt(0);
    let text = "";
    for (const [index, choice] of this.#choices) {
      if (choice.finished) continue;
      const delta: JsonObject = choice.hasRole ? {} : { role: "assistant", content: "" };
      const choices = [{ index, delta, logprobs: null, finish_reason: "length" }];
      text += eventText("", { ...this.#start(), choices });
      choice.finished = true;
    }
    this.#done = true;
    return text + eventText("", "[DONE]");
  }

  failure({ type, code, message }: { type: string; code: string; message: string }): string {
    return eventText("", { error: { message, type, param: null, code } });
  }

  #readChunk(chunk: JsonObject): EventReading {
    const { id, created, model, system_fingerprint, usage } = chunk;
    if (this.#head.id === undefined && typeof id === "string") {
      this.#head = {
        id,
        created: created ?? 0,
        model: model ?? this.#model,
        ...(isSaid(system_fingerprint) && { system_fingerprint }),
      };
    }
    this.claims = joinedClaims(this.claims, claimsIn(chunk));
    const choices = listOf(chunk.choices);
    for (const choice of choices) this.#readChoice(objectOf(choice));
    // Every chunk may tell it, and each counts from the start. One that cannot be true makes the earlier ones doubtful too.
    if (isSaid(usage)) this.#counts = chatUsage(usage);
    return this.#strips && isSaid(usage) && choices.length === 0 ? NOTHING : SAME;
  }

  #readChoice({ index, delta, text, finish_reason }: JsonObject): void {
    const choice = this.#choiceAt(isCount(index) ? index : 0);
    if (isSaid(objectOf(delta).role)) choice.hasRole = true;
    if (isSaid(finish_reason)) choice.finished = true;
    this.#see(saidBytes(delta) + saidBytes(text));
  }

  #choiceAt(index: number): Choice {
    const place = Math.min(index, MOST_CHOICES);
    const known = this.#choices.get(place);
    if (known !== undefined) return known;
    const choice = { hasRole: false, finished: false };
    this.#choices.set(place, choice);
    return choice;
  }

  #see(bytes: number): void {
    if (bytes === 0) return;
    this.seen_bytes += bytes;
    this.seen_tokens += 1;
  }

  get #isFinished(): boolean {
    if (this.#choices.size < this.#answers) return false;
    for (const { finished } of this.#choices.values()) if (!finished) return false;
    return true;
  }

  /** What every chunk begins with; a stream that has not begun gets a beginning of its own. */
  #start(): Record<string, Json> {
    const { id = "chatcmpl-bursar", created = 0, model = this.#model, ...rest } = this.#head;
    return { id, object: "chat.completion.chunk", created, model, ...rest };
  }
}
