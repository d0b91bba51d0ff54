import { canonicalize, type Json, type JsonObject } from "../../core/chain/canonical.js";
import { sha256Hex } from "../../runtime/crypto.js";
import type { MeteredRequest } from "../meter/meter.js";
import { isSaid } from "../wire/request-fields.js";
import type { AnswerHeaders } from "./whole-answer.js";

/** Where a request goes, and for whom. */
export interface Addressed {
  readonly url: string;
  readonly headers: AnswerHeaders;
  /** Whose answers these are: nobody else gets them. Null where all share them. */
  readonly tenant: string | null;
}

/** Of the connection, of the client's software or of one attempt alone: they change no answer. Every other header does. */
const NO_MATTER: ReadonlySet<string> = new Set([
  "content-length",
  "connection",
  "keep-alive",
  "host",
  "user-agent",
  "accept-encoding",
  "accept-language",
  "date",
  "sec-fetch-mode",
  "traceparent",
  "tracestate",
  "baggage",
  "x-request-id",
  "x-client-request-id",
]);
/** What the SDKs of OpenAI and Anthropic tell of themselves, also how often they have tried. */
const OF_THE_SDK = /^x-stainless-/;
/** More than any limit of output, so that none is lower for it. */
const NO_LIMIT = 1_000_000_000;
/** A later layout of what is kept must not be taken for this one. */
const VERSION = 1;

/** What two requests have in common that go to the same place with the same rights: the credentials are in their headers. */
export function addressKey({ url, headers, tenant }: Addressed): string {
  const counting = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !NO_MATTER.has(name) && !OF_THE_SDK.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify([VERSION, url, tenant, counting]));
}

/**
 * The name of everything a request says, as it came and before it was held to what is left; null for one that cannot stand for
 * another. Two have the same name only if a provider could not tell them apart.
 */
export function identityOf({ wire }: MeteredRequest, address: string): string | null {
  // What tools of the provider's find changes by the hour.
  if (wire.stream || wire.hosted !== undefined) return null;
  const body = wire.held(NO_LIMIT);
  if (hasEffects(body)) return null;
  return sha256Hex(`${address}\n${wire.protocol} ${wire.output_tokens}\n${JSON.stringify(body)}`);
}

/** What a request says beside one of its fields, in whatever order. */
export function parametersKey(rest: JsonObject, address: string): string {
  return sha256Hex(`${address}\n${canonicalize(rest as Json)}`);
}

/** Whether it does more than to be answered: what is added to a conversation twice stands there twice. */
function hasEffects({ background, conversation, container }: JsonObject): boolean {
  return background === true || isSaid(conversation) || isSaid(container);
}
