import { type IncomingMessage, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ClientGone } from "./client-gone.js";
import { ConnectionSlots, type ConnectionUse, type SlotLimits, type UsedConnection } from "./connection-slots.js";
import { discardInput, isDiscarding } from "./discard-input.js";
import { peerOf } from "./peer.js";
import { failRequestBody, isBodyWhole } from "./request-body.js";
import { findAmbiguity, type MalformedRequest, malformedBy } from "./request-check.js";

export interface ClientConnectionsOptions extends SlotLimits {
  readonly isSecure: boolean;
  /** Serves a request. Requests of one connection are served one after the other. */
  readonly listener: RequestListener;
  /** The body of the answer to what is no request, as JSON. */
  readonly describeMalformed: (message: string) => string;
}

/** A client that sends so many requests before it is answered is disconnected. */
const MOST_WAITING = 1000;

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the client waits to be told to send its body. */
  readonly expectsContinue?: boolean;
}

/** The connection of one client. */
class ClientConnection implements UsedConnection {
  /** The request that is being served, and those that came behind it. */
  current: Exchange | null = null;
  readonly waiting: Exchange[] = [];
  /** What has come behind the last request and is none. */
  malformed: MalformedRequest | null = null;
  wasUsed = false;
  answered_at = 0;
  private readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  get use(): ConnectionUse {
    if (isDiscarding(this.socket)) return this.socket.writableFinished ? "answered" : "busy";
    if (this.current !== null) return "busy";
    return this.wasUsed ? "idle" : "unused";
  }
}

/** The connections of a server: how many there may be, and the requests of each in their order. */
export class ClientConnections {
  private readonly options: ClientConnectionsOptions;
  /** All of them, also those whose TLS handshake is not over. */
  private readonly sockets = new Set<Socket>();
  private readonly connections = new Map<Socket, ClientConnection>();
  private readonly byPeer = new Map<string, ClientConnection>();
  private readonly slots: ConnectionSlots;
  private isClosing = false;

  constructor(server: Server, options: ClientConnectionsOptions) {
    this.options = options;
    this.slots = new ConnectionSlots(options);
    const { isSecure } = options;
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      if (!this.slots.take(socket, () => this.byPeer.get(peer))) return;
      this.track(socket);
      if (!isSecure) this.open(socket);
    });
    if (isSecure) {
      server.on("secureConnection", (socket: Socket) => {
        // A listener takes Node's parser off the handle of the socket: on it, bytes of pipelined bodies are lost with TLS.
        socket.on("data", () => {});
        this.open(socket);
      });
    }
    server.on("request", (incoming: IncomingMessage, response: ServerResponse) => this.queue({ incoming, response }));
    server.on("checkContinue", (incoming: IncomingMessage, response: ServerResponse) => {
      this.queue({ incoming, response, expectsContinue: true });
    });
    server.on("checkExpectation", (incoming: IncomingMessage, response: ServerResponse) => {
      this.queue({ incoming, response }, { status: 417, message: "it expects what nobody here can do" });
    });
    server.on("clientError", (error: Error, socket: Socket) => this.fail(socket, error));
  }

  /** All sockets; with TLS two for each connection. */
  get all(): Iterable<Socket> {
    return this.sockets;
  }

  /** Closes the connections without a request, also those that were never used; the others when they are answered. */
  close(): void {
    this.isClosing = true;
    for (const [socket, { current }] of this.connections) if (current === null) socket.destroySoon();
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.once("close", () => this.sockets.delete(socket));
  }

  private open(socket: Socket): void {
    const peer = peerOf(socket);
    const connection = new ClientConnection(socket);
    if (!this.sockets.has(socket)) this.track(socket);
    this.connections.set(socket, connection);
    this.byPeer.set(peer, connection);
    socket.once("close", () => {
      this.connections.delete(socket);
      if (this.byPeer.get(peer) === connection) this.byPeer.delete(peer);
    });
  }

  private queue(exchange: Exchange, malformed: MalformedRequest | null = findAmbiguity(exchange.incoming)): void {
    const { socket } = exchange.incoming;
    const connection = this.connections.get(socket);
    // Its client was told that nothing more is served on this connection.
    if (connection === undefined || isDiscarding(socket) || connection.malformed !== null) return;
    if (malformed !== null) {
      connection.malformed = malformed;
      if (connection.current === null) this.refuse(socket, malformed);
    } else if (connection.current === null) this.serve(connection, exchange);
    else if (connection.waiting.push(exchange) > MOST_WAITING) socket.destroy();
  }

  private serve(connection: ClientConnection, exchange: Exchange): void {
    const { incoming, response, expectsContinue = false } = exchange;
    const { socket } = incoming;
    if (expectsContinue) continueOnRead(incoming, response);
    connection.current = exchange;
    connection.wasUsed = true;
    response.once("close", () => this.goOn(socket, connection));
    this.options.listener(incoming, response);
  }

  /** Serves the next request of a connection, now that one is answered. */
  private goOn(socket: Socket, connection: ClientConnection): void {
    connection.current = null;
    connection.answered_at = performance.now();
    if (socket.destroyed || isDiscarding(socket)) return;
    const next = connection.waiting.shift();
    if (this.isClosing) socket.destroySoon();
    else if (next !== undefined) this.serve(connection, next);
    else if (connection.malformed !== null) this.refuse(socket, connection.malformed);
  }

  /** The parser of Node cannot read what has come, or the connection has failed. */
  private fail(socket: Socket, error: Error): void {
    const connection = this.connections.get(socket);
    const malformed = malformedBy(error);
    if (connection === undefined || malformed === null || isDiscarding(socket)) {
      socket.destroy();
      return;
    }
    if (connection.malformed !== null) return;
    const { current } = connection;
    // A client that has sent nothing is told nothing.
    if (current === null && socket.bytesRead === 0) socket.destroy();
    else if (current === null) this.refuse(socket, malformed);
    else if (isBodyWhole(current.incoming)) connection.malformed = malformed;
    else this.refuseCurrent(current, malformed);
  }

  /** Answers a request whose body will not come. */
  private refuseCurrent({ incoming, response }: Exchange, malformed: MalformedRequest): void {
    const { socket } = incoming;
    const hasBegun = response.headersSent;
    failRequestBody(incoming, new ClientGone(`the request was given up: ${malformed.message}`));
    if (hasBegun) socket.destroy();
    else this.refuse(socket, malformed);
  }

  /** Says why this is no request, and ends the connection: nobody knows where the next one would begin. */
  private refuse(socket: Socket, { status, message }: MalformedRequest): void {
    const body = this.options.describeMalformed(`this is no request: ${message}`);
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
    ];
    if (socket.writable) socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
    discardInput(socket);
  }
}

/** Tells a client to send its body as soon as somebody reads it. */
function continueOnRead(incoming: IncomingMessage, response: ServerResponse): void {
  const tell = (event: string | symbol) => {
    if (event !== "data" && event !== "readable") return;
    incoming.off("newListener", tell);
    if (!response.headersSent) response.writeContinue();
  };
  incoming.on("newListener", tell);
}
