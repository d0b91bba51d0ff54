import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { IS_HOPELESS } from "../http/grammar.js";
import type { Watched } from "../http/watch.js";
import { ClientGone, leavingOf } from "../leaving.js";
import type { Asked } from "./asked.js";
import { ClientReply, type ReplyLine } from "./client-reply.js";
import { MalformedRequest } from "./malformed-request.js";
import { MOST_AHEAD, RequestBody } from "./request-body.js";
import { RequestHead } from "./request-head.js";

/** How much of whoever asks is put up with. */
export interface ClientLimits {
  /** The longest head, in bytes. */
  readonly header_bytes: number;
  /** How long a client may take to send its request. */
  readonly request_ms: number;
  /** How long it may leave unread what it was sent. */
  readonly silence_ms: number;
}

/** Whoever has taken a connection is given its requests, and told when it is gone. */
export interface ClientOwner {
  readonly limits: ClientLimits;
  /** Whether no more requests are taken. */
  readonly isClosing: boolean;
  serve(asked: Asked): void;
  gone(connection: ClientConnection): void;
}

/** Longer than most clients keep a connection they do not use, so that none is closed while they are about to use it. */
const KEEP_ALIVE_MS = 65_000;
/** For how long, and for how many bytes, whoever was answered before he had sent everything is listened to: he has to hear why. */
const [LINGER_MS, MOST_DROPPED] = [2000, 16 * 1024 * 1024];

const HEAD_END = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");
const KEPT = `connection: keep-alive\r\nkeep-alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n\r\n`;
const CLOSED = "connection: close\r\n\r\n";
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * A client's connection. Its requests are served one after the other, so that no answer can be taken for that of another; and what
 * could be read in two ways ends it, because whoever stands between the client and us may have read it in the other.
 */
export class ClientConnection implements Watched, ReplyLine {
  deadline: number;
  private readonly socket: Socket;
  private readonly owner: ClientOwner;
  /** What has come and was not read. */
  private held: Buffer | null = null;
  private request: ClientRequest | null = null;
  /** How much has come of what nobody reads any more; null as long as somebody does. */
  private dropped: number | null = null;
  private isPaused = false;
  /** Whether it is closed after the answer that is being written. */
  private isLast = false;
  /** Whether the client has to read what it was answered before it is served again. */
  private isBehind = false;
  private signal: AbortSignal | null = null;

  constructor(socket: Socket, owner: ClientOwner) {
    this.socket = socket;
    this.owner = owner;
    this.deadline = performance.now() + owner.limits.request_ms;
    socket.on("data", (bytes: Buffer) => this.read(bytes));
    // Whatever it is, the connection is closed after it.
    socket.on("error", () => {});
    socket.on("close", () => this.close());
  }

  /** Fires when the client hangs up. */
  get leaving(): AbortSignal {
    this.signal ??= leavingOf(this.socket);
    return this.signal;
  }

  /** Whether nobody waits for an answer on it. */
  get isIdle(): boolean {
    return this.request === null;
  }

  abort(): void {
    this.socket.destroy();
  }

  /** Closes it once everything is written. */
  leave(): void {
    this.socket.destroySoon();
  }

  expire(): void {
    const isLate = this.dropped === null && (this.held !== null || this.request !== null);
    if (isLate) this.refuse(new MalformedRequest("it was not sent in time", 408));
    else this.socket.destroy();
  }

  lastLines(isLast: boolean): string {
    if (isLast) this.isLast = true;
    return this.mayGoOn() ? KEPT : CLOSED;
  }

  /** The answer is written: on to the next request, unless this was the last one. */
  done(): void {
    const { socket, request } = this;
    if (request === null) return;
    const goesOn = this.mayGoOn();
    this.request = null;
    if (!goesOn) {
      // With something unread, the system would take back what is on its way to the client.
      if (request.sent.isWhole && this.held === null) socket.destroySoon();
      else this.linger();
      return;
    }
    const { silence_ms } = this.owner.limits;
    this.deadline = performance.now() + (socket.writableLength > 0 ? silence_ms : KEEP_ALIVE_MS);
    // Who does not read what he is answered is not answered more.
    this.isBehind = socket.writableNeedDrain;
    if (this.isBehind) socket.once("drain", () => this.goOn());
    else if (this.held !== null || this.isPaused) setImmediate(() => this.goOn());
  }

  /** Tells a client that waits for it to send its body. */
  want(head: RequestHead): void {
    if (head.isWaiting) this.socket.write(CONTINUE);
    this.resume();
  }

  private mayGoOn(): boolean {
    if (this.request === null || this.isLast || this.owner.isClosing) return false;
    return this.request.head.isKept && this.request.sent.isWhole;
  }

  private read(bytes: Buffer): void {
    try {
      if (this.dropped !== null) this.drop(bytes.length);
      else if (this.request !== null) this.readBody(this.request, bytes);
      else if (this.isBehind) this.hold(bytes);
      else this.readHead(bytes);
    } catch (error) {
      this.refuse(error);
    }
  }

  private readHead(bytes: Buffer): void {
    const all = this.held === null ? withoutLineEnds(bytes) : withoutLineEnds(Buffer.concat([this.held, bytes]));
    if (all.length === 0) return;
    const { header_bytes, request_ms } = this.owner.limits;
    const end = all.indexOf(HEAD_END);
    if ((end < 0 ? all.length : end + HEAD_END.length) > header_bytes) {
      throw new MalformedRequest(`its headers have more than ${header_bytes} bytes`, 431);
    }
    if (this.held === null) this.deadline = performance.now() + request_ms;
    if (end < 0) {
      if (IS_HOPELESS.test(all.toString("latin1"))) throw new MalformedRequest("its head is no head of HTTP/1.1");
      this.held = all;
      return;
    }
    this.held = null;
    const head = new RequestHead(all.toString("latin1", 0, end + LINE_END.length));
    const request = new ClientRequest(head, this.socket, this);
    this.request = request;
    this.readBody(request, all.subarray(end + HEAD_END.length));
    this.owner.serve(request);
  }

  private readBody({ sent: body }: ClientRequest, bytes: Buffer): void {
    const behind = body.read(bytes);
    if (body.isWhole) this.deadline = Number.POSITIVE_INFINITY;
    if (behind > 0) this.hold(bytes.subarray(bytes.length - behind));
    if (body.isAhead) this.pause();
  }

  /** It is another request, which waits for its turn. */
  private hold(bytes: Buffer): void {
    this.held = this.held === null ? bytes : Buffer.concat([this.held, bytes]);
    if (this.held.length > MOST_AHEAD) this.pause();
  }

  private goOn(): void {
    this.isBehind = false;
    if (this.request !== null || this.socket.destroyed) return;
    if (this.owner.isClosing) return void this.leave();
    const { held } = this;
    this.held = null;
    if (held !== null) this.read(held);
    if (this.request === null) this.resume();
  }

  /** Says why it is no request, and ends the connection: nobody knows where the next one would begin. */
  private refuse(error: unknown): void {
    const { request, socket } = this;
    const { status, message } = error instanceof MalformedRequest ? error : new MalformedRequest("it cannot be read");
    request?.reply.lose();
    request?.sent.fail(new ClientGone(`the request was given up: ${message}`));
    if (request === null || request.reply.status === 0) {
      const reply = new ClientReply(socket, this, false, false);
      this.request = null;
      const failing = {
        type: "invalid_request_error",
        code: "invalid_request",
        message: `this is no request: ${message}`,
      };
      const body = Buffer.from(JSON.stringify({ type: "error", error: { ...failing, param: null } }));
      reply.answer(status, { "content-type": "application/json" }, body);
    }
    this.request = null;
    this.linger();
  }

  /** Says that nothing more is written, and reads for a while what is still sent: it would be cut off in the middle of the answer otherwise. */
  private linger(): void {
    this.dropped = 0;
    this.held = null;
    this.deadline = performance.now() + LINGER_MS;
    this.socket.end();
    this.resume();
  }

  private drop(size: number): void {
    this.dropped = (this.dropped ?? 0) + size;
    if (this.dropped > MOST_DROPPED) this.socket.destroy();
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.socket.pause();
  }

  private resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.socket.resume();
  }

  private close(): void {
    this.request?.sent.fail(new ClientGone());
    this.request = null;
    this.owner.gone(this);
  }
}

/** One request on a connection. */
class ClientRequest implements Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly head: RequestHead;
  readonly reply: ClientReply;
  readonly sent: RequestBody;
  private readonly connection: ClientConnection;

  constructor(head: RequestHead, socket: Socket, connection: ClientConnection) {
    const { method, url, headers, isOld } = head;
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.head = head;
    this.reply = new ClientReply(socket, connection, method === "HEAD", isOld);
    this.sent = new RequestBody(head);
    this.connection = connection;
  }

  get leaving(): AbortSignal {
    return this.connection.leaving;
  }

  body(most: number): Buffer | null | Promise<Buffer | null> {
    const body = this.sent.whole(most);
    if (body instanceof Promise) this.connection.want(this.head);
    return body;
  }
}

/** Some clients write ends of lines behind a body, which are nothing. */
function withoutLineEnds(bytes: Buffer): Buffer {
  let at = 0;
  while (bytes[at] === LINE_END[0] && bytes[at + 1] === LINE_END[1]) at += LINE_END.length;
  return at === 0 ? bytes : bytes.subarray(at);
}
