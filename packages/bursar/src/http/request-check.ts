import type { IncomingMessage } from "node:http";

/** A client has sent something that is no request, or that two programs could read differently. */
export interface MalformedRequest {
  readonly status: 400 | 408 | 417 | 431;
  readonly message: string;
}

const MOST_HEADERS = 256;

/** Headers that may stand once. Of two, one program takes the first and another the last. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "authorization",
  "x-api-key",
  "api-key",
  "content-type",
  "expect",
]);

/** A path, a whole address, or `*`, in ASCII. */
const IS_TARGET = /^(?:\/|\*|[A-Za-z]+:\/\/)[\x21-\x7e]*$/;

/**
 * Checks what `node:http` accepts and another server or proxy may read differently; null for a request that has one reading. The parser
 * of Node itself refuses two lengths, a length beside chunks, folded headers, bare line feeds and control characters.
 */
export function findAmbiguity({
  rawHeaders,
  headers,
  httpVersion,
  url = "",
}: IncomingMessage): MalformedRequest | null {
  if (!IS_TARGET.test(url)) return malformed("its target is neither a path nor an address");
  if (rawHeaders.length > 2 * MOST_HEADERS) return malformed(`it has more than ${MOST_HEADERS} headers`);
  let seen: string[] | null = null;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen === null) seen = [name];
    else if (seen.includes(name)) return malformed(`it has the header ${name} twice`);
    else seen.push(name);
  }
  const { host, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== "chunked") return malformed("its body is encoded in an unknown way");
    if (httpVersion === "1.0") return malformed("it has chunks, in HTTP/1.0");
  }
  if (host === undefined && httpVersion !== "1.0") return malformed("it does not say which host it is meant for");
  return null;
}

/** What an error of the HTTP parser says about the request; null where the connection itself has failed. */
export function malformedBy({ code = "" }: NodeJS.ErrnoException): MalformedRequest | null {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { status: 408, message: "it was not sent in time" };
  if (code === "HPE_HEADER_OVERFLOW") return { status: 431, message: "its headers are too long" };
  // The client has hung up in the middle of its request.
  if (code === "HPE_INVALID_EOF_STATE" || !code.startsWith("HPE_")) return null;
  return malformed("it is not HTTP/1.1");
}

function malformed(message: string): MalformedRequest {
  return { status: 400, message };
}
