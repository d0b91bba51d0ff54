import type { IncomingHttpHeaders } from "node:http";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import type { ScriptedEmbedding, ScriptedHalf, ScriptedText } from "./answer.js";
import type { Heard, Reading, ScriptedProtocol } from "./request.js";
import { tokensOf } from "./tokens.js";

/** Whose habits an answer follows. */
export type Provider = "openai" | "anthropic";

/** An answer that is written in the words of a protocol. */
export type Writable = ScriptedText | ScriptedHalf | ScriptedEmbedding;

/** One protocol, as the provider's side speaks it. */
export interface Wire {
  readonly protocol: ScriptedProtocol;
  readonly provider: Provider;
  /** Reads a request as strictly as the provider would: a client that sends nonsense has to notice. */
  read(body: JsonObject, headers: IncomingHttpHeaders, purpose: Purpose): Reading;
  /** The answer as one object. */
  body(answer: Writable, heard: Heard, instant: number): JsonObject;
  /** The answer as the events of a stream, each as it stands on the wire; the last one says that it is over. */
  events(answer: Writable, heard: Heard, instant: number): readonly string[];
  /** The event that tells of a failure on the way, after so many events. */
  failure(message: string, sent: number): string;
}

/** What a request is for: an answer, or only the number of its tokens. */
export type Purpose = "answer" | "count";

/** An event with a name, as Anthropic and OpenAI's Responses write it. */
export function namedEvent(data: JsonObject & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** How many tokens these parts of a body are taken for; what is not there counts for nothing. */
export function inputTokens(parts: readonly (Json | undefined)[]): number {
  return tokensOf(parts.map((part) => (part === undefined ? "" : JSON.stringify(part))).join(""));
}

/** Refuses an answer that no provider could give to such a request: the script is wrong. */
export function spokenIn(answer: Writable, { protocol }: Wire): ScriptedText | ScriptedHalf {
  if (answer.kind !== "embedding") return answer;
  throw new Error(`it answers with an embedding, and the request speaks ${protocol}`);
}
