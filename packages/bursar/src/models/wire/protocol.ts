import type { JsonObject } from "../../core/chain/canonical.js";
import type { AnswerClaims } from "./answer-claims.js";
import type { HostedTools } from "./hosted-tools.js";
import type { Source } from "./source.js";
import type { TokenCounts } from "./token-counts.js";

export type ProtocolName = "openai-chat" | "openai-responses" | "openai-embeddings" | "anthropic-messages";

/** One provider's way to write requests and answers: what a request may use, how it is held to less, what an answer says it used. */
export interface Protocol {
  readonly name: ProtocolName;
  /** Which provider's prices count where the address does not say. */
  readonly home: "openai" | "anthropic";
  /** Reads a request. It throws `UnboundedError` for what may cost something that nobody can bound beforehand. */
  read(body: JsonObject, about: RequestFacts): WireRequest;
  /** Whether `usage` looks at more of an answer than its member of that name. */
  readonly readsAll: boolean;
  /** A word whose presence in an answer makes `usage` look at all of it. */
  readonly readsAllWith?: string;
  /** What a whole answer says was used; null when it says nothing that can be counted. */
  usage(answer: JsonObject): TokenCounts | null;
  /** A reader for the events of one streamed answer. */
  stream(request: WireRequest): StreamReader;
}

export interface RequestFacts {
  /** How many bytes the body has in UTF-8. */
  readonly bytes: number;
  /** Whether the provider is the protocol's own, or a server that only speaks like it. */
  readonly compatible: boolean;
  /** Whether somebody has looked already that the body is not nested too deeply. */
  readonly shallow?: boolean;
  /** The model that the server runs, where that is not the one that the body names. */
  readonly model?: string;
  /** Members that the operator allows at this address beside the known ones. */
  readonly allow?: ReadonlySet<string>;
  /** Whether the body is what an SDK says of a call: then it may have members that are not sent. */
  readonly drawn?: boolean;
  /** Whether the server may run the tools of the protocol's own provider, so that their prices count: true unless it is said. */
  readonly hosts?: boolean;
}

/** A request, with the most it can take in and give back. */
export interface WireRequest {
  readonly protocol: ProtocolName;
  /** The model that answers, by which the request is priced. */
  readonly model: string;
  /** The deployment that runs it, where the server knows it by that name. */
  readonly deployment?: string;
  readonly stream: boolean;
  /** No fewer than the provider will count, if nothing is `beyond` the bytes. */
  readonly input_tokens: number;
  /** What it is that adds input of unknown size, such as a stored conversation; then only the model's window bounds it. */
  readonly beyond: string | null;
  /** The texts that make up the input, for a tokenizer, and how many tokens at most come on top of them; null when there are other things. */
  readonly texts: { readonly pieces: readonly string[]; readonly around: number } | null;
  /** The most one answer may have, as the request says; null when it says nothing, 0 when there is no output at all. */
  readonly output_tokens: number | null;
  /** How many answers are asked for: each may have as much. */
  readonly answers: number;
  /** The least a limit of output may be set to: providers refuse a lower one. */
  readonly least_output: number;
  /** Input may be written to a cache, which costs more than input does. */
  readonly caches: "no" | "5m" | "1h";
  /** The tools that the provider runs and is paid for by the use; absent where there are none. */
  readonly hosted?: HostedTools;
  readonly audio: boolean;
  /** Whether it may think without showing it, so that what was seen of an answer does not bound it. */
  readonly hidden: boolean;
  /** Whether usage is asked for in the caller's place, who then does not expect the event that tells it. */
  readonly usage_added?: boolean;
  /** The body as it came. */
  readonly body: JsonObject;
  /** The text that it came as, for whoever sends it; absent where it came as none. */
  readonly source?: Source;
  /** The body as it is sent: each answer held to so many tokens, and usage asked for where a stream would not tell it. */
  held(output_tokens: number): JsonObject;
}

/** What one event of a stream means to whoever passes it on. */
export interface EventReading {
  /** What is passed on: the event as it came, another text in its place, or nothing (null). */
  readonly pass: "same" | string | null;
  /** Whether this event ends the answer: it is passed on once the call is settled. */
  readonly last: boolean;
}

/** Follows one streamed answer, event by event. */
export interface StreamReader {
  /** Takes one event: its `event` field ("" where there is none) and its joined `data`. */
  read(event: string, data: string): EventReading;
  /** What the events so far say was used, and whether that is final. */
  readonly usage: { readonly counts: TokenCounts; readonly final: boolean } | null;
  /** What the events so far say of the price of the answer. */
  readonly claims: AnswerClaims;
  /** Bytes of output seen so far: text, arguments of tools, thinking. No fewer than tokens. */
  readonly seen_bytes: number;
  /** Tokens that were certainly produced so far: one for each event with output at least. */
  readonly seen_tokens: number;
  /** The events that end the answer cleanly because it has reached its limit, whatever was open. */
  finish(): string;
  /** The event that tells of a failure on the way, in the provider's own form. */
  failure(error: { readonly type: string; readonly code: string; readonly message: string }): string;
}
