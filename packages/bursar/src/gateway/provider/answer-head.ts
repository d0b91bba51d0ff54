import type { IncomingHttpHeaders } from "node:http";
import { MalformedAnswer } from "./errors.js";
import { IS_HEAD } from "./grammar.js";

/** How much a head may take, with all that comes before it. */
export const MOST_HEAD: number = 16 * 1024;
const MOST_FIELDS = 256;

/**
 * A connection that nobody uses is closed before servers do so, most of which wait for 5 seconds: a request that meets a closing
 * connection is lost, and would have to be paid for, because nobody knows whether it was read.
 */
const IDLE_MS = 4000;
/** So much earlier than the provider says. */
const MARGIN_MS = 1000;

/** Where a body ends: at once, after so many bytes, with its last chunk, or with the connection. */
type Framing = "none" | "length" | "chunks" | "close";

/** What an answer says about itself before its body. */
export class AnswerHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly framing: Framing;
  /** How many bytes the body has; only where it is framed by that. */
  readonly length: number;
  /** For how long the connection may be used again; 0 for not at all. */
  readonly idle_ms: number;

  /** Reads the lines up to the empty one. They are checked as a whole, so that nothing is cut where it could be cut in two ways. */
  constructor(text: string) {
    if (!IS_HEAD.test(text)) throw new MalformedAnswer("its head is no head of HTTP/1.1");
    this.status = Number(text.slice(9, 12));
    this.headers = fieldsIn(text);
    this.length = lengthOf(this.headers);
    this.framing = framingOf(this.status, this.headers, this.length);
    const isOld = text.charCodeAt(7) === ZERO;
    if (isOld && this.framing === "chunks") throw new MalformedAnswer("it has chunks, in HTTP/1.0");
    this.idle_ms = isOld || !isExact(this.framing, this.headers, this.length) ? 0 : idleOf(this.headers);
  }
}

/** Lists that are read as one text; of everything else each line stays one of its own. */
const JOINED: ReadonlySet<string> = new Set(["connection", "content-type", "content-encoding", "keep-alive"]);

function fieldsIn(text: string): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  let fields = 0;
  for (let at = text.indexOf("\r\n") + 2; at < text.length; fields++) {
    const colon = text.indexOf(":", at);
    const end = text.indexOf("\r\n", colon);
    const name = text.slice(at, colon).toLowerCase();
    const value = trimmed(text, colon + 1, end);
    // Of its own: every object has a constructor. What is called __proto__ is not taken, which is as well.
    if (headers[name] !== undefined && Object.hasOwn(headers, name)) addTo(headers, name, value);
    else headers[name] = value;
    at = end + 2;
  }
  if (fields > MOST_FIELDS) throw new MalformedAnswer(`it has more than ${MOST_FIELDS} headers`);
  return headers;
}

function addTo(headers: IncomingHttpHeaders, name: string, value: string): void {
  const before = headers[name] as string | string[];
  if (JOINED.has(name)) headers[name] = `${before}, ${value}`;
  else if (typeof before === "string") headers[name] = [before, value];
  else before.push(value);
}

const [TAB, BLANK, ZERO] = [0x09, 0x20, 0x30];

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

function lengthOf({ "content-length": length }: IncomingHttpHeaders): number {
  if (length === undefined) return 0;
  if (typeof length !== "string" || !IS_LENGTH.test(length))
    throw new MalformedAnswer("its length is none, or several");
  return Number(length);
}

function framingOf(status: number, headers: IncomingHttpHeaders, length: number): Framing {
  const { "content-length": stated, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined) {
    // A list of several codings, or one that is said twice, is read differently by different programs.
    const isChunked = typeof encoding === "string" && encoding.toLowerCase() === "chunked";
    if (!isChunked) throw new MalformedAnswer("its body is encoded in an unknown way");
    if (stated !== undefined) throw new MalformedAnswer("it has both a length and chunks");
  }
  if (status < 200) {
    if (encoding !== undefined || length > 0) throw new MalformedAnswer("what comes before it has a body");
    return "none";
  }
  if (status === 204 || status === 304) return "none";
  if (encoding !== undefined) return "chunks";
  return stated === undefined ? "close" : "length";
}

/** Whether it is certain where it ends: of an answer that has no body, but speaks of one, somebody may send that body after all. */
function isExact(framing: Framing, headers: IncomingHttpHeaders, length: number): boolean {
  if (framing === "none") return length === 0 && headers["transfer-encoding"] === undefined;
  return framing !== "close";
}

const SAYS_CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const SAYS_TIMEOUT = /(?:^|[,;])[ \t]*timeout[ \t]*=[ \t]*"?([0-9]{1,9})/i;

function idleOf({ connection, "keep-alive": keeping }: IncomingHttpHeaders): number {
  if (connection !== undefined && connection !== "keep-alive" && SAYS_CLOSE.test(connection)) return 0;
  if (typeof keeping !== "string") return IDLE_MS;
  const [, seconds] = SAYS_TIMEOUT.exec(keeping) ?? [];
  return seconds === undefined ? IDLE_MS : Math.max(0, Math.min(IDLE_MS, Number(seconds) * 1000 - MARGIN_MS));
}
