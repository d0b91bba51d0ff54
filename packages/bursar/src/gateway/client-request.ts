import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { clientSignalOf } from "../http/client-gone.js";
import { readRequestBody } from "../http/request-body.js";
import { ClientReply } from "./client-reply.js";

/** A client's request, and the way back to it. */
export class ClientRequest {
  readonly method: string;
  /** What it asks for, as it was written. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Fires when the client hangs up. */
  readonly leaving: AbortSignal;
  readonly reply: ClientReply;
  private readonly incoming: IncomingMessage;

  constructor(incoming: IncomingMessage, response: ServerResponse, silenceMs: number) {
    const { method = "", url = "/", headers, socket } = incoming;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.leaving = clientSignalOf(socket);
    this.reply = new ClientReply(incoming, response, silenceMs);
    this.incoming = incoming;
  }

  /** The whole body; null when it is longer than it may be. `takePiece` is called for every piece, and may refuse it. */
  body(mostBytes: number, takePiece?: (bytes: number) => boolean): Promise<Buffer | null> {
    return readRequestBody(this.incoming, { mostBytes, ...(takePiece !== undefined && { takePiece }) });
  }
}
