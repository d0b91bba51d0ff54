import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Asked } from "./asked.js";
import { ClientReply, type ReplyLine } from "./client-reply.js";
import { RequestBody } from "./request-body.js";
import type { RequestHead } from "./request-head.js";

/** The connection that a request has come on. */
export interface RequestLine extends ReplyLine {
  /** Fires when the client hangs up. */
  readonly leaving: AbortSignal;
  /** Somebody waits for the body. */
  want(): void;
}

/** One request on a connection. */
export class ClientRequest implements Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly head: RequestHead;
  readonly reply: ClientReply;
  /** What has come of its body. */
  readonly sent: RequestBody;
  private readonly line: RequestLine;

  constructor(head: RequestHead, socket: Socket, line: RequestLine) {
    const { method, url, headers, isOld } = head;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.head = head;
    this.reply = new ClientReply(socket, line, method === "HEAD", isOld);
    this.sent = new RequestBody(head);
    this.line = line;
  }

  get leaving(): AbortSignal {
    return this.line.leaving;
  }

  body(most: number, grow?: (bytes: number) => boolean): Buffer | null | Promise<Buffer | null> {
    const body = this.sent.whole(most, grow);
    if (body instanceof Promise) this.line.want();
    return body;
  }
}
