import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { discardInput } from "../http/discard-input.js";
import { isBodyWhole } from "../http/request-body.js";

/** Longer bodies are written in parts, so that a client that reads slowly can be told from one that does not read. */
const MOST_AT_ONCE = 256 * 1024;

/** Written by `node:http` itself. */
const OWN_HEADERS = ["connection", "keep-alive", "transfer-encoding"];

/** The response to one client, as it is written. Writing to a client that has left does nothing. */
export class ClientReply {
  /** Why nothing was sent to a provider: the code of the refusal. */
  refused: string | null = null;
  /** Emits `drain` once the client has read what `write` held. */
  readonly flow: ServerResponse;
  private readonly incoming: IncomingMessage;
  private readonly silenceMs: number;
  private isAnswered = false;

  constructor(incoming: IncomingMessage, response: ServerResponse, silenceMs: number) {
    this.incoming = incoming;
    this.flow = response;
    this.silenceMs = silenceMs;
    response.on("error", () => {});
  }

  /** The status that was sent; 0 as long as none was. */
  get status(): number {
    return this.flow.headersSent ? this.flow.statusCode : 0;
  }

  get isEnded(): boolean {
    return this.isAnswered || this.flow.writableEnded;
  }

  /** Whether the client has left. */
  get isGone(): boolean {
    return this.flow.destroyed || this.incoming.socket.destroyed || this.incoming.socket.writableEnded;
  }

  /** Sends a whole response. The headers belong to the reply from then on. */
  answer(status: number, headers: OutgoingHttpHeaders, body: Buffer): void {
    if (this.isGone) return;
    const isLast = headers.connection === "close";
    for (const name of OWN_HEADERS) delete headers[name];
    if (isLast) headers.connection = "close";
    if (status !== 204 && status !== 304) headers["content-length"] = body.length;
    this.isAnswered = true;
    if (!isBodyWhole(this.incoming)) {
      this.flow.writeHead(status, { ...headers, connection: "close" });
      this.flow.write(body);
      discardInput(this.incoming.socket);
      return;
    }
    this.flow.writeHead(status, headers);
    if (body.length <= MOST_AT_ONCE) this.end(body);
    else this.pour(body, 0);
  }

  /** Begins a response whose end is not known; its head goes with the first bytes. */
  begin(status: number, headers: OutgoingHttpHeaders): void {
    for (const name of OWN_HEADERS) delete headers[name];
    delete headers["content-length"];
    if (!this.isGone) this.flow.writeHead(status, headers);
  }

  /** Sends the head without waiting for the first bytes. */
  flush(): void {
    this.flow.flushHeaders();
  }

  /** False when the client should read first. */
  write(bytes: Uint8Array): boolean {
    return this.flow.write(bytes);
  }

  end(last?: Uint8Array): void {
    if (last === undefined) this.flow.end();
    else this.flow.end(last);
    this.limitSilence();
  }

  /** Disconnects the client in the middle of a response; what was written before goes first, if the system takes it at once. */
  hangUp(): void {
    this.incoming.socket.uncork();
    this.flow.destroy();
  }

  private pour(bytes: Buffer, from: number): void {
    if (this.isGone) return;
    const to = from + MOST_AT_ONCE;
    if (to >= bytes.length) {
      this.end(bytes.subarray(from));
      return;
    }
    const fits = this.flow.write(bytes.subarray(from, to));
    this.limitSilence();
    if (fits) this.pour(bytes, to);
    else this.flow.once("drain", () => this.pour(bytes, to));
  }

  /** Disconnects a client that does not read the end of its response; the system tells one that reads slowly. */
  private limitSilence(): void {
    const { socket } = this.incoming;
    if (socket.writableLength > 0) socket.setTimeout(this.silenceMs);
  }
}
