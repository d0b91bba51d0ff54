import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Who is connected, and who of them waits for an answer. */
export class Connections {
  private readonly waiting = new Map<Socket, number>();
  private closing = false;

  constructor(server: Server, secure: boolean) {
    server.on(secure ? "secureConnection" : "connection", (socket: Socket) => {
      this.waiting.set(socket, 0);
      socket.once("close", () => this.waiting.delete(socket));
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.count(socket, 1);
      response.once("close", () => this.count(socket, -1));
    });
  }

  get sockets(): Iterable<Socket> {
    return this.waiting.keys();
  }

  /** Closes the connections on which nobody waits for an answer, also those that were never used; the others when they have it. */
  close(): void {
    this.closing = true;
    for (const socket of this.waiting.keys()) this.count(socket, 0);
  }

  private count(socket: Socket, more: number): void {
    const before = this.waiting.get(socket);
    if (before === undefined) return;
    this.waiting.set(socket, before + more);
    if (this.closing && before + more === 0) socket.destroySoon();
  }
}
