import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { bodyOf } from "../body.js";
import { DropPace } from "../drop-pace.js";
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
    this.reply = new NodeReply(incoming, response);
    this.incoming = incoming;
  }

  body(most: number, grow?: (bytes: number) => boolean): Promise<Buffer | null> {
    return bodyOf(this.incoming, most, this.headers["content-length"], grow);
  }
}

/** Connections whose request was answered before its body had come. */
const lingering = new WeakSet<Socket>();

/** Whether all that still comes on a connection is what nobody needs. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/** How long a client that was answered may send nothing before its connection is closed, and what is read of it at most. */
const LINGER_MS = 2000;
const LONGEST_LINGER_MS = 60_000;
const MOST_DROPPED = 64 * 1024 * 1024;
const DROPPED_AT_ONCE = 256 * 1024;

const pace = new DropPace();

class NodeReply implements Reply {
  refused: string | null = null;
  readonly flow: ServerResponse;
  private readonly incoming: IncomingMessage;
  /** Whether all of the answer is written, though the client still sends. */
  private isAnswered = false;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    this.incoming = incoming;
    this.flow = response;
    response.on("error", () => {});
  }

  get status(): number {
    return this.flow.headersSent ? this.flow.statusCode : 0;
  }

  get isEnded(): boolean {
    return this.isAnswered || this.flow.writableEnded;
  }

  get isGone(): boolean {
    return this.flow.destroyed;
  }

  answer(status: number, headers: OutgoingHttpHeaders, body: Buffer): void {
    headers["content-length"] = body.length;
    if (isWhole(this.incoming)) {
      this.flow.writeHead(status, headers);
      this.flow.end(body);
      return;
    }
    headers.connection = "close";
    this.isAnswered = true;
    this.flow.writeHead(status, headers);
    this.flow.write(body);
    // Closed at once, the connection would take the answer back from a client that still sends.
    drop(this.incoming, () => this.flow.end());
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

/** Whether the body has come; where none is announced, there is none. */
function isWhole({ complete, headers }: IncomingMessage): boolean {
  const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
  return complete || (length === "0" && encoding === undefined);
}

/** Reads the rest of a body for nothing, and not fast, until it ends or enough was read. */
function drop(incoming: IncomingMessage, done: () => void): void {
  const { socket } = incoming;
  lingering.add(socket);
  let size = 0;
  let silence = setTimeout(end, LINGER_MS).unref();
  const longest = setTimeout(end, LONGEST_LINGER_MS).unref();
  function end(): void {
    clearTimeout(silence);
    clearTimeout(longest);
    incoming.off("data", take);
    incoming.off("end", end);
    incoming.off("close", end);
    done();
  }
  function take(piece: Buffer): void {
    size += piece.length;
    if (size > MOST_DROPPED) {
      end();
      return;
    }
    const wait_ms = size > DROPPED_AT_ONCE ? pace.wait_ms(piece.length) : 0;
    clearTimeout(silence);
    silence = setTimeout(end, wait_ms + LINGER_MS).unref();
    if (wait_ms < 1) return;
    incoming.pause();
    setTimeout(() => incoming.resume(), wait_ms).unref();
  }
  incoming.on("data", take);
  incoming.on("end", end);
  incoming.on("close", end);
  incoming.resume();
}
