import type { JsonObject } from "../../core/chain/canonical.js";
import { InputError } from "../../core/errors.js";
import type { Protocol } from "../wire/protocol.js";
import { checkTextDepth } from "../wire/request-fields.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { MeteredRequest } from "./meter.js";
import { type RefusalReport, unbounded } from "./refusal.js";

/** The hosts of those whose protocols they are. All others only speak like them. */
const HOMES: ReadonlyMap<string, string> = new Map([
  ["api.openai.com", "openai"],
  ["api.anthropic.com", "anthropic"],
]);

/** A request as it came, before anybody knows what it asks for. */
export interface RawRequest {
  readonly protocol: Protocol;
  readonly url: URL;
  readonly body: string;
  readonly bytes: number;
}

/** A number such as 1e20 has four characters, and 21 when it is written anew. */
const EXPONENT = /\d[eE][+-]?\d/;

/** Reads a request of one of the protocols; a refusal when it is none that can be made. */
export function readMetered({ protocol, url, body, bytes: came }: RawRequest): MeteredRequest | RefusalReport {
  let parsed: unknown;
  try {
    checkTextDepth(body);
    parsed = JSON.parse(body);
  } catch (error) {
    return invalid(error instanceof InputError ? error.message : "the body is no JSON");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return invalid("the body is no object");
  const compatible = HOMES.get(url.hostname) !== protocol.home;
  try {
    const bytes = EXPONENT.test(body) ? Math.max(came, anew(parsed as JsonObject)) : came;
    const wire = protocol.read(parsed as JsonObject, { bytes, compatible, shallow: true });
    return { protocol, wire, url: url.href, egress_bytes: bytes };
  } catch (error) {
    if (error instanceof InputError) return invalid(error.message);
    if (error instanceof UnboundedError) return unbounded(error.message);
    throw error;
  }
}

/** How many bytes a body has when it is written anew, as it is sent. */
function anew(body: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(body));
}

/** A request that no provider would take. */
export function invalid(message: string): RefusalReport {
  return { code: "invalid_request", message, hint: "correct the request" };
}
