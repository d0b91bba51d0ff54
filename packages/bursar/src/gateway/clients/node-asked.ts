import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { bodyOf } from "../body.js";
import { leavingOf } from "../leaving.js";
import type { Asked, Reply } from "./asked.js";

/** A request that a server of `node:http` has taken. */
export class NodeAsked implements Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly leaving: AbortSignal;
  readonly reply: Reply;
  private readonly incoming: IncomingMessage;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    const { method = "", url = "/", headers, socket } = incoming;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.leaving = leavingOf(socket);
    this.reply = new NodeReply(response);
    this.incoming = incoming;
  }

  body(most: number): Promise<Buffer | null> {
    return bodyOf(this.incoming, most, this.headers["content-length"]);
  }
}

class NodeReply implements Reply {
  refused: string | null = null;
  readonly flow: ServerResponse;

  constructor(response: ServerResponse) {
    this.flow = response;
    response.on("error", () => {});
  }

  get status(): number {
    return this.flow.headersSent ? this.flow.statusCode : 0;
  }

  get isEnded(): boolean {
    return this.flow.writableEnded;
  }

  get isGone(): boolean {
    return this.flow.destroyed;
  }

  answer(status: number, headers: OutgoingHttpHeaders, body: Buffer): void {
    headers["content-length"] = body.length;
    this.flow.writeHead(status, headers);
    this.flow.end(body);
  }

  begin(status: number, headers: OutgoingHttpHeaders): void {
    this.flow.writeHead(status, headers);
  }

  flush(): void {
    this.flow.flushHeaders();
  }

  write(bytes: Uint8Array): boolean {
    return this.flow.write(bytes);
  }

  end(last?: Uint8Array): void {
    if (last === undefined) this.flow.end();
    else this.flow.end(last);
  }

  hangUp(): void {
    this.flow.destroy();
  }
}
