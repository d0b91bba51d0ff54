import type { IncomingHttpHeaders } from "node:http";

/** Makes the error that says what is malformed about a message. */
export type Fault = (what: string) => Error;

/** Puts a field that stands in a message once more to what it said before. */
export type Adding = (headers: IncomingHttpHeaders, name: string, value: string) => void;

const MOST_FIELDS = 256;

/** The fields of a head that is well-formed: its lines without the empty one. */
export function fieldsIn(text: string, add: Adding, fault: Fault): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  let fields = 0;
  for (let at = text.indexOf("\r\n") + 2; at < text.length; fields++) {
    const colon = text.indexOf(":", at);
    const end = text.indexOf("\r\n", colon);
    const name = text.slice(at, colon).toLowerCase();
    const value = trimmed(text, colon + 1, end);
    // Of its own: every object has a constructor. What is called __proto__ is not taken, which is as well.
    if (headers[name] !== undefined && Object.hasOwn(headers, name)) add(headers, name, value);
    else headers[name] = value;
    at = end + 2;
  }
  if (fields > MOST_FIELDS) throw fault(`it has more than ${MOST_FIELDS} headers`);
  return headers;
}

const [TAB, BLANK] = [0x09, 0x20];

/** Without blanks and tabs around it, and only those: others are bytes of some character. */
function trimmed(text: string, start: number, end: number): string {
  let [first, last] = [start, end];
  while (first < last && isBlank(text.charCodeAt(first))) first++;
  while (last > first && isBlank(text.charCodeAt(last - 1))) last--;
  return text.slice(first, last);
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB;
}

/** Few enough digits to be counted in. */
const IS_LENGTH = /^[0-9]{1,15}$/;

/** How long the body is said to be; 0 where nothing is said. */
export function lengthOf({ "content-length": length }: IncomingHttpHeaders, fault: Fault): number {
  if (length === undefined) return 0;
  if (typeof length !== "string" || !IS_LENGTH.test(length)) throw fault("its length is none, or several");
  return Number(length);
}

/** Whether the body comes in chunks. What says both that and a length is read differently by different programs. */
export function isChunked(headers: IncomingHttpHeaders, fault: Fault): boolean {
  const { "content-length": stated, "transfer-encoding": encoding } = headers;
  if (encoding === undefined) return false;
  // So is a list of several codings, or one that is said twice.
  const isKnown = typeof encoding === "string" && encoding.toLowerCase() === "chunked";
  if (!isKnown) throw fault("its body is encoded in an unknown way");
  if (stated !== undefined) throw fault("it has both a length and chunks");
  return true;
}

const SAYS_CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

/** Whether the connection is closed behind it. */
export function saysClose({ connection }: IncomingHttpHeaders): boolean {
  return connection !== undefined && connection !== "keep-alive" && SAYS_CLOSE.test(connection);
}
