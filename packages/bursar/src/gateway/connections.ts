import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isLingering } from "./clients/node-asked.js";
import { ConnectionSlots, type ConnectionUse, type SlotLimits, type UsedConnection } from "./connection-slots.js";
import { peerOf } from "./peer.js";

/** One of them. */
class Connection implements UsedConnection {
  /** How many answers it waits for. */
  waiting = 0;
  wasUsed = false;
  answered_at = 0;
  private readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  get use(): ConnectionUse {
    if (!this.wasUsed) return "unused";
    if (isLingering(this.socket)) return "answered";
    return this.waiting > 0 ? "busy" : "idle";
  }
}

/** The connections of a server of `node:http`, and which of them wait for an answer. */
export class Connections {
  private readonly connections = new Map<Socket, Connection>();
  private readonly byPeer = new Map<string, Connection>();
  private readonly slots: ConnectionSlots;
  private closing = false;

  constructor(server: Server, secure: boolean, limits: SlotLimits) {
    this.slots = new ConnectionSlots(limits);
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      if (this.slots.take(socket, () => this.byPeer.get(peer)) && !secure) this.keep(socket);
    });
    if (secure) server.on("secureConnection", (socket: Socket) => this.keep(socket));
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.count(socket, 1);
      response.once("close", () => this.count(socket, -1));
    });
  }

  get sockets(): Iterable<Socket> {
    return this.connections.keys();
  }

  /** Closes the connections on which nobody waits for an answer, also those that were never used; the others when they have it. */
  close(): void {
    this.closing = true;
    for (const socket of this.connections.keys()) this.count(socket, 0);
  }

  private keep(socket: Socket): void {
    const peer = peerOf(socket);
    const connection = new Connection(socket);
    this.connections.set(socket, connection);
    this.byPeer.set(peer, connection);
    socket.once("close", () => {
      this.connections.delete(socket);
      if (this.byPeer.get(peer) === connection) this.byPeer.delete(peer);
    });
  }

  private count(socket: Socket, more: number): void {
    const connection = this.connections.get(socket);
    if (connection === undefined) return;
    connection.waiting += more;
    connection.wasUsed ||= more > 0;
    if (more < 0) connection.answered_at = performance.now();
    if (this.closing && connection.waiting === 0) socket.destroySoon();
  }
}
