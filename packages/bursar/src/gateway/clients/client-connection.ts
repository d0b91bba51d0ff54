import type { Socket } from "node:net";
import type { ConnectionUse, UsedConnection } from "../connection-slots.js";
import type { DropPace } from "../drop-pace.js";
import type { Watched } from "../http/watch.js";
import { ClientGone, leavingOf } from "../leaving.js";
import { peerOf } from "../peer.js";
import type { Asked } from "./asked.js";
import { ClientReply } from "./client-reply.js";
import { ClientRequest, type RequestLine } from "./client-request.js";
import { endOfLines, HeadReader } from "./head-reader.js";
import { MalformedRequest } from "./malformed-request.js";
import { MOST_AHEAD } from "./request-body.js";
import { RequestHead } from "./request-head.js";

/** How much of whoever asks is put up with. */
export interface ClientLimits {
  /** The longest head and body, in bytes. */
  readonly header_bytes: number;
  readonly body_bytes: number;
  /** How long a client may take to send its request. */
  readonly request_ms: number;
  /** How long it may leave unread what it was sent. */
  readonly silence_ms: number;
}

/** Whoever has taken a connection is given its requests, and told when it is gone. */
export interface ClientOwner {
  readonly limits: ClientLimits;
  /** How fast what nobody needs is read. */
  readonly dropPace: DropPace;
  /** Whether no more requests are taken. */
  readonly isClosing: boolean;
  serve(asked: Asked): void;
  gone(connection: ClientConnection): void;
}

/** Longer than most clients keep a connection they do not use, so that none is closed while they are about to use it. */
const KEEP_ALIVE_MS = 65_000;
/** No client sends so much more before it is answered; and only while it is read does anybody notice that it hangs up. */
const MOST_BEHIND = 1024 * 1024;
/** Whoever was answered before he had sent everything has to hear why: he is listened to until he is silent for so long. */
const LINGER_MS = 2000;
const LEAST_DROPPED = 16 * 1024 * 1024;
/** So much of it is read as fast as it comes: most bodies are shorter. */
const DROPPED_AT_ONCE = 256 * 1024;

const KEPT = `connection: keep-alive\r\nkeep-alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n\r\n`;
const CLOSED = "connection: close\r\n\r\n";
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * A client's connection. Its requests are served one after the other, so that no answer can be taken for that of another; and what
 * could be read in two ways ends it, because whoever stands between the client and us may have read it in the other.
 */
export class ClientConnection implements Watched, RequestLine, UsedConnection {
  deadline: number;
  readonly peer: string;
  answered_at = 0;
  private readonly socket: Socket;
  private readonly owner: ClientOwner;
  private readonly heads: HeadReader;
  private request: ClientRequest | null = null;
  /** What has come behind a request, and waits until that is answered. */
  private held: Buffer[] = [];
  private held_bytes = 0;
  /** Whether what is held is served only later: when the client has read what it was answered, or in another turn. */
  private isBehind = false;
  /** Whether anything has come since the last request, so that its time runs. */
  private isBegun = true;
  private isPaused = false;
  /** Whether a request was answered on it. */
  private wasUsed = false;
  /** Whether it is watched how long the client reads nothing. */
  private isBearing = false;
  /** Whether it is closed after the answer that is being written. */
  private isLast = false;
  /** How much has come of what nobody reads any more, and until when at most; null as long as somebody does. */
  private lingering: { bytes: number; readonly until: number } | null = null;
  private signal: AbortSignal | null = null;

  constructor(socket: Socket, owner: ClientOwner) {
    this.peer = peerOf(socket);
    this.socket = socket;
    this.owner = owner;
    this.heads = new HeadReader(owner.limits.header_bytes);
    this.deadline = performance.now() + owner.limits.request_ms;
    socket.on("data", (bytes: Buffer) => this.read(bytes));
    // Whatever it is, the connection is closed after it.
    socket.on("error", () => {});
    socket.on("timeout", () => socket.destroy());
    socket.on("close", () => this.close());
  }

  get leaving(): AbortSignal {
    this.signal ??= leavingOf(this.socket);
    return this.signal;
  }

  /** Whether nobody waits for an answer on it. */
  get isIdle(): boolean {
    return this.request === null;
  }

  get use(): ConnectionUse {
    // An answer that its client has not read yet is under way too.
    if (this.socket.writableLength > 0) return "busy";
    if (this.lingering !== null) return this.socket.writableFinished ? "answered" : "idle";
    if (this.request !== null || this.isBehind) return "busy";
    return this.wasUsed ? "idle" : "unused";
  }

  abort(): void {
    this.socket.destroy();
  }

  /** Closes it once everything is written. */
  leave(): void {
    this.bear();
    this.socket.destroySoon();
  }

  expire(): void {
    const isLate = this.lingering === null && (this.heads.isBegun || this.request !== null);
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
    this.wasUsed = true;
    this.answered_at = performance.now();
    if (!goesOn) {
      // With something unread, the system would take back what is on its way to the client.
      if (request.sent.isWhole && !this.holdsMore()) this.leave();
      else this.linger();
      return;
    }
    this.deadline = performance.now() + KEEP_ALIVE_MS;
    this.isBegun = false;
    const isUnread = socket.writableNeedDrain;
    if (this.isBearing) this.bearNoMore();
    this.isBehind = isUnread || this.held_bytes > 0 || this.isPaused;
    // Who does not read what he is answered is not answered more.
    if (isUnread) {
      this.bear();
      socket.once("drain", () => this.goOn());
    } else if (this.isBehind) setImmediate(() => this.goOn());
  }

  /** Somebody waits for the body, so whoever waits to be told sends it. */
  want(): void {
    if (this.lingering !== null) return;
    if (this.request?.head.isWaiting === true) this.socket.write(CONTINUE);
    this.resume();
  }

  /** A client that does not read what it was answered is hung up on, and one that reads slowly is not: the system knows. */
  bear(): void {
    this.deadline = Number.POSITIVE_INFINITY;
    this.isBearing = true;
    this.socket.setTimeout(this.owner.limits.silence_ms);
  }

  private bearNoMore(): void {
    this.isBearing = false;
    this.socket.setTimeout(0);
  }

  private mayGoOn(): boolean {
    if (this.request === null || this.isLast || this.owner.isClosing) return false;
    return this.request.head.isKept && this.request.sent.isWhole;
  }

  private read(bytes: Buffer): void {
    try {
      if (this.lingering !== null) this.drop(this.lingering, bytes.length);
      else if (this.request !== null) this.readBody(this.request, bytes);
      else if (this.isBehind) this.hold(bytes);
      else this.readHead(bytes);
    } catch (error) {
      this.refuse(error);
    }
  }

  private readHead(bytes: Buffer): void {
    // Once for each request, so that nobody gains time by sending little by little.
    if (!this.isBegun) this.deadline = performance.now() + this.owner.limits.request_ms;
    this.isBegun = true;
    const whole = this.heads.read(bytes);
    if (whole === null) return;
    const request = new ClientRequest(new RequestHead(whole.text), this.socket, this);
    this.request = request;
    this.readBody(request, whole.rest);
    this.owner.serve(request);
  }

  private readBody({ sent }: ClientRequest, bytes: Buffer): void {
    const behind = sent.read(bytes);
    if (sent.isWhole) this.deadline = Number.POSITIVE_INFINITY;
    if (behind > 0) this.hold(bytes.subarray(bytes.length - behind));
    if (sent.isAhead) this.pause();
  }

  /** It is another request, which waits for its turn. */
  private hold(bytes: Buffer): void {
    this.held.push(bytes);
    this.held_bytes += bytes.length;
    if (this.request === null) {
      if (this.held_bytes > MOST_AHEAD) this.pause();
    } else if (this.held_bytes > MOST_BEHIND) this.socket.destroy();
  }

  /** Whether there is anything behind the last request but ends of lines, which are nothing. */
  private holdsMore(): boolean {
    return this.held_bytes > 0 && endOfLines(Buffer.concat(this.held)) < this.held_bytes;
  }

  private goOn(): void {
    if (this.request !== null || this.lingering !== null || this.socket.destroyed) return;
    if (this.owner.isClosing) {
      this.leave();
      return;
    }
    if (this.isBearing) this.deadline = performance.now() + KEEP_ALIVE_MS;
    this.bearNoMore();
    this.isBehind = false;
    const held = this.held.length === 1 ? (this.held[0] as Buffer) : Buffer.concat(this.held);
    this.held = [];
    this.held_bytes = 0;
    if (held.length > 0) this.read(held);
    if (!this.isBehind && this.lingering === null) this.resume();
  }

  /** Says why it is no request, and ends the connection: nobody knows where the next one would begin. */
  private refuse(error: unknown): void {
    const { request, socket } = this;
    const { status, message } = error instanceof MalformedRequest ? error : new MalformedRequest("it cannot be read");
    this.request = null;
    request?.reply.lose();
    request?.sent.fail(new ClientGone(`the request was given up: ${message}`));
    if (request === null || request.reply.status === 0) {
      const failing = {
        type: "invalid_request_error",
        code: "invalid_request",
        message: `this is no request: ${message}`,
      };
      const body = Buffer.from(JSON.stringify({ type: "error", error: { ...failing, param: null } }));
      new ClientReply(socket, this, false, false).answer(status, { "content-type": "application/json" }, body);
    }
    this.linger();
  }

  /** Says that nothing more is written, and reads for a while what is still sent: the answer would be taken back otherwise. */
  private linger(): void {
    const { socket } = this;
    this.lingering = { bytes: 0, until: performance.now() + this.owner.limits.request_ms };
    this.held = [];
    this.held_bytes = 0;
    this.deadline = Number.POSITIVE_INFINITY;
    this.bear();
    socket.end(() => {
      this.bearNoMore();
      this.deadline = performance.now() + LINGER_MS;
    });
    this.resume();
  }

  private drop(lingering: { bytes: number; readonly until: number }, size: number): void {
    lingering.bytes += size;
    if (lingering.bytes > Math.max(LEAST_DROPPED, 2 * this.owner.limits.body_bytes)) {
      this.socket.destroy();
      return;
    }
    const wait_ms = lingering.bytes > DROPPED_AT_ONCE ? this.owner.dropPace.wait_ms(size) : 0;
    if (this.socket.writableFinished) {
      this.deadline = Math.min(lingering.until, performance.now() + wait_ms + LINGER_MS);
    }
    if (wait_ms < 1) return;
    this.pause();
    setTimeout(() => this.resume(), wait_ms).unref();
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
