import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { FULL_HEADER, SITE_HEADER, type Siting, sited } from "../models/reservations/siting.js";
import { type Wish, wishIn } from "../models/tiers/wish.js";

/** Of one connection and not of the message, or written anew by the gateway. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "content-length",
  "content-encoding",
  "expect",
  "accept-encoding",
  // What proves the client to the gateway is nothing to the provider, and the provider's cookies are not the client's.
  "authorization",
  "x-api-key",
  "api-key",
  "cookie",
  "forwarded",
  "via",
  "x-real-ip",
  // Whose account pays is the gateway's to say.
  "openai-organization",
  "openai-project",
]);
/** What a client may not say to the provider, whatever comes after it: where it comes from, and what only the gateway says. */
const OWN = /^x-(?:bursar|forwarded)-/;
const NOT_RETURNED: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "content-encoding",
  "set-cookie",
  "alt-svc",
  "strict-transport-security",
  // Whose account it is, is not the client's to know.
  "openai-organization",
  "openai-project",
  "anthropic-organization-id",
]);

/**
 * The headers of a request as they go on, with those by which the provider knows the gateway. What the client's connection names as
 * its own goes no further.
 */
export function forwarded(
  headers: IncomingHttpHeaders,
  credentials: Readonly<Record<string, string>>,
): Record<string, string | string[]> {
  const own = namedIn(headers.connection);
  // What cannot be read cannot be counted.
  const kept: Record<string, string | string[]> = { "accept-encoding": "identity" };
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || own.has(name) || !isForwarded(name)) continue;
    kept[name] = value;
  }
  // Last, so that a client has no say in them, whatever they are called.
  return Object.assign(kept, credentials);
}

function isForwarded(name: string): boolean {
  return !NOT_FORWARDED.has(name) && !(name.startsWith("x-") && OWN.test(name));
}

/** The headers of an answer as they go back. */
export function returned(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const own = namedIn(headers.connection);
  const kept: OutgoingHttpHeaders = {};
  for (const name in headers) {
    if (!NOT_RETURNED.has(name) && !name.startsWith("x-bursar-") && !own.has(name)) kept[name] = headers[name];
  }
  return kept;
}

function namedIn(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === "keep-alive" || connection === "close") return NONE;
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}

const NONE: ReadonlySet<string> = new Set();

const BEARER = /^Bearer +(\S+)$/i;

/** What a client shows: as OpenAI's SDKs do, or as Anthropic's. Where it shows both, one of them may be meant for the provider. */
export function secretIn(headers: IncomingHttpHeaders): string | null {
  const { authorization = "" } = headers;
  const [, bearer] = (authorization !== "" && BEARER.exec(authorization)) || [];
  if (headers["x-api-key"] === undefined && headers["api-key"] === undefined) return bearer ?? null;
  const shown = [headers["x-api-key"], headers["api-key"], bearer].filter(
    (each): each is string => typeof each === "string" && each !== "",
  );
  return shown.find(isOurs) ?? shown[0] ?? null;
}

/** Whether it is meant to be a key of a gateway's, right or wrong. */
export function isOurs(secret: string): boolean {
  return secret.startsWith("bursar_");
}

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/** Whether a page in a browser of this machine has sent this, of whatever site; no program says where it comes from. */
export function isFromPage({ origin, host = "" }: IncomingHttpHeaders): boolean {
  return origin !== undefined || !LOCAL.test(host);
}

/** What a client says about which model is to answer, where it leaves that open. */
export function wishedBy(headers: IncomingHttpHeaders): Wish {
  return wishIn((name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(",") : value;
  });
}

/** What a client says about where its request comes from, and how it is to be held. */
export function sitedBy(headers: IncomingHttpHeaders): Siting {
  return sited(headers[SITE_HEADER], headers[FULL_HEADER]);
}
