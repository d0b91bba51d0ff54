import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isLingering } from "./clients/node-asked.js";
import { ConnectionSlots, type ConnectionUse, type SlotLimits } from "./connection-slots.js";
import { peerOf } from "./peer.js";

interface Connection {
  /** How many answers it waits for. */
  waiting: number;
  wasUsed: boolean;
}

/** The connections of a server of `node:http`, and which of them wait for an answer. */
export class Connections {
  private readonly connections = new Map<Socket, Connection>();
  private readonly byPeer = new Map<string, Socket>();
  private readonly slots: ConnectionSlots;
  private closing = false;

  constructor(server: Server, secure: boolean, limits: SlotLimits) {
    this.slots = new ConnectionSlots(limits);
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      if (this.slots.take(socket, () => this.useOf(peer)) && !secure) this.keep(socket);
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
    this.connections.set(socket, { waiting: 0, wasUsed: false });
    this.byPeer.set(peer, socket);
    socket.once("close", () => {
      this.connections.delete(socket);
      if (this.byPeer.get(peer) === socket) this.byPeer.delete(peer);
    });
  }

  private useOf(peer: string): ConnectionUse {
    const socket = this.byPeer.get(peer);
    const connection = socket === undefined ? undefined : this.connections.get(socket);
    if (socket === undefined || connection?.wasUsed !== true) return "unused";
    if (isLingering(socket)) return "answered";
    return connection.waiting > 0 ? "busy" : "idle";
  }

  private count(socket: Socket, more: number): void {
    const connection = this.connections.get(socket);
    if (connection === undefined) return;
    connection.waiting += more;
    connection.wasUsed ||= more > 0;
    if (this.closing && connection.waiting === 0) socket.destroySoon();
  }
}
