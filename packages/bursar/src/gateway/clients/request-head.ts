import type { IncomingHttpHeaders } from "node:http";
import { fieldsIn, isChunked, lengthOf, saysClose } from "../http/fields.js";
import { IS_REQUEST_HEAD } from "../http/grammar.js";
import { MalformedRequest, malformed } from "./malformed-request.js";

/** What a request says about itself before its body. */
export class RequestHead {
  readonly method: string;
  /** What it asks for, as it was written. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly isChunked: boolean;
  /** How many bytes the body has, unless it comes in chunks. */
  readonly length: number;
  /** Whether it is of HTTP/1.0, whose clients know nothing of chunks. */
  readonly isOld: boolean;
  /** Whether another may come after it on the same connection. */
  readonly isKept: boolean;
  /** Whether the client waits to be told that its body is wanted. */
  readonly isWaiting: boolean;

  /** Reads the lines up to the empty one. They are checked as a whole, so that nothing is cut where it could be cut in two ways. */
  constructor(text: string) {
    if (!IS_REQUEST_HEAD.test(text)) throw malformed("its head is no head of HTTP/1.1");
    const space = text.indexOf(" ");
    const end = text.indexOf("\r\n");
    this.method = text.slice(0, space);
    this.url = text.slice(space + 1, end - VERSION_LENGTH);
    this.isOld = text.charCodeAt(end - 1) === ZERO;
    this.headers = fieldsIn(text, addTo, malformed);
    this.length = lengthOf(this.headers, malformed);
    this.isChunked = isChunked(this.headers, malformed);
    if (this.isOld && this.isChunked) throw malformed("it has chunks, in HTTP/1.0");
    if (!this.isOld && this.headers.host === undefined) throw malformed("it does not say which host it is meant for");
    this.isKept = !this.isOld && !saysClose(this.headers);
    this.isWaiting = !this.isOld && waits(this.headers.expect);
  }
}

const VERSION_LENGTH = " HTTP/1.1".length;
const ZERO = 0x30;

/** Of these there is one, or nobody knows which is meant. */
const SINGLE: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "authorization",
  "x-api-key",
  "api-key",
  "content-type",
  "expect",
]);

/** Others are lists, whose parts may stand in lines of their own. */
function addTo(headers: IncomingHttpHeaders, name: string, value: string): void {
  if (SINGLE.has(name)) throw malformed(`it has the header ${name} twice`);
  headers[name] = `${headers[name]}${name === "cookie" ? ";" : ","} ${value}`;
}

function waits(expect: string | undefined): boolean {
  if (expect === undefined) return false;
  if (expect.toLowerCase() !== "100-continue") throw new MalformedRequest("it expects what nobody here can do", 417);
  return true;
}
