import type { Json, JsonObject } from "../../core/chain/canonical.js";
import type { ReadingChat } from "../chat/chat-body.js";
import type { MeteredRequest } from "../meter/meter.js";
import type { AnswerClaims } from "../wire/answer-claims.js";
import type { ProtocolName } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";

/** A batch on its way. */
export interface Outgoing {
  readonly marker: string;
  /** When it was first written down. */
  readonly created: number;
  readonly lines: readonly OutgoingLine[];
  /** How many lines it has had at most: some may have been given up since. */
  readonly most: number;
}

export interface OutgoingLine {
  readonly custom_id: string;
  readonly body: JsonObject;
}

/** What became of handing a batch in: only after `unknown` may it have arrived without anybody having been told. */
export type Submitted =
  | { readonly kind: "taken"; readonly id: string }
  | { readonly kind: "refused"; readonly message: string; readonly status: number | null }
  | { readonly kind: "later"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string };

/** What a provider knows of a batch that may have arrived; `untold` when it will never be able to tell. */
export type Found =
  | { readonly kind: "found"; readonly id: string }
  | { readonly kind: "none" }
  | { readonly kind: "later"; readonly message: string }
  | { readonly kind: "untold"; readonly message: string };

/** How far a batch has come. */
export type Looked = { readonly kind: "under_way" } | { readonly kind: "later"; readonly message: string } | Over;

export interface Over {
  readonly kind: "over";
  /** `failed` when it could not even begin. */
  readonly state: "completed" | "expired" | "cancelled" | "failed";
  /** Where its results are. */
  readonly files: readonly string[];
  /** How many of its items the provider says it has done, well or badly; null when it does not say. */
  readonly processed: number | null;
  readonly message: string | null;
}

/** What became of one item. */
export interface ItemResult {
  readonly custom_id: string;
  readonly result:
    | { readonly kind: "answer"; readonly body: JsonObject }
    | { readonly kind: "error"; readonly status: number | null; readonly message: string }
    | { readonly kind: "unprocessed"; readonly why: "expired" | "cancelled" };
}

/** One provider's interface for batches. */
export interface BatchProvider {
  readonly name: "openai" | "anthropic";
  readonly protocol: ProtocolName;
  /** Where requests that do not wait would go: prices depend on it. */
  readonly url: string;
  /** Whether the address is the provider's own, so that its prices for batches are known. */
  readonly isHome: boolean;
  /** Makes a request of what a program asks for, and reads it as every request on the wire is read. */
  request(asked: Json, about: Omit<ReadingChat, "url">): MeteredRequest;
  /** What an answer says, as programs get it. It throws when it is none. */
  answer(body: JsonObject): Json;
  usage(body: JsonObject): TokenCounts | null;
  /** What an answer says of its price. */
  claims(body: JsonObject): AnswerClaims;
  /** What of it is charged in a batch, where that may be more than otherwise. */
  billed(counts: TokenCounts): TokenCounts;
  submit(batch: Outgoing, signal: AbortSignal): Promise<Submitted>;
  /** Looks for a batch that may have arrived. `known` are those that are somebody else's. */
  find(batch: Outgoing, known: ReadonlySet<string>, signal: AbortSignal): Promise<Found>;
  look(id: string, signal: AbortSignal): Promise<Looked>;
  /** Throws a `WireFailure` when they cannot be read now. */
  results(id: string, over: Over, signal: AbortSignal): AsyncIterable<ItemResult>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}
