import type { IncomingHttpHeaders } from "node:http";
import { fieldsIn, isChunked, lengthOf, saysClose } from "../http/fields.js";
import { IS_HEAD } from "../http/grammar.js";
import { MalformedAnswer } from "./errors.js";

/** How much a head may take, with all that comes before it. */
export const MOST_HEAD: number = 16 * 1024;

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
    this.headers = fieldsIn(text, addTo, fault);
    this.length = lengthOf(this.headers, fault);
    this.framing = framingOf(this.status, this.headers, this.length);
    const isOld = text.charCodeAt(7) === ZERO;
    if (isOld && this.framing === "chunks") throw new MalformedAnswer("it has chunks, in HTTP/1.0");
    this.idle_ms = isOld || !isExact(this.framing, this.headers, this.length) ? 0 : idleOf(this.headers);
  }
}

const fault = (what: string): MalformedAnswer => new MalformedAnswer(what);

/** Lists that are read as one text; of everything else each line stays one of its own. */
const JOINED: ReadonlySet<string> = new Set(["connection", "content-type", "content-encoding", "keep-alive"]);

function addTo(headers: IncomingHttpHeaders, name: string, value: string): void {
  const before = headers[name] as string | string[];
  if (JOINED.has(name)) headers[name] = `${before}, ${value}`;
  else if (typeof before === "string") headers[name] = [before, value];
  else before.push(value);
}

const ZERO = 0x30;

function framingOf(status: number, headers: IncomingHttpHeaders, length: number): Framing {
  const chunked = isChunked(headers, fault);
  if (status < 200) {
    if (chunked || length > 0) throw new MalformedAnswer("what comes before it has a body");
    return "none";
  }
  if (status === 204 || status === 304) return "none";
  if (chunked) return "chunks";
  return headers["content-length"] === undefined ? "close" : "length";
}

/** Whether it is certain where it ends: of an answer that has no body, but speaks of one, somebody may send that body after all. */
function isExact(framing: Framing, headers: IncomingHttpHeaders, length: number): boolean {
  if (framing === "none") return length === 0 && headers["transfer-encoding"] === undefined;
  return framing !== "close";
}

const SAYS_TIMEOUT = /(?:^|[,;])[ \t]*timeout[ \t]*=[ \t]*"?([0-9]{1,9})/i;

function idleOf(headers: IncomingHttpHeaders): number {
  if (saysClose(headers)) return 0;
  const { "keep-alive": keeping } = headers;
  if (typeof keeping !== "string") return IDLE_MS;
  const [, seconds] = SAYS_TIMEOUT.exec(keeping) ?? [];
  return seconds === undefined ? IDLE_MS : Math.max(0, Math.min(IDLE_MS, Number(seconds) * 1000 - MARGIN_MS));
}
