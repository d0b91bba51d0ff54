import { createServer, type Server, type Socket } from "node:net";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";
import { ConnectionSlots } from "../connection-slots.js";
import { DropPace } from "../drop-pace.js";
import { Watch } from "../http/watch.js";
import { stopAfter } from "../leaving.js";
import { addressOf, certified, type ListeningOptions, listenOn } from "../listening.js";
import { peerOf } from "../peer.js";
import type { Asked } from "./asked.js";
import { ClientConnection, type ClientLimits, type ClientOwner } from "./client-connection.js";

/** How late a connection whose time is over may be ended: a share of that time, and at most. */
const [LATE_SHARE, MOST_LATE_MS] = [0.1, 500];

export interface ClientsOptions extends ListeningOptions, ClientLimits {}

/** A port that is listened on, for HTTP/1.1 with or without TLS, and those who are connected to it: why we do so ourselves, see decision 73. */
export class Clients implements ClientOwner {
  readonly limits: ClientLimits;
  readonly dropPace: DropPace = new DropPace();
  isClosing = false;
  private readonly options: ClientsOptions;
  private readonly server: Server;
  /** Everybody, also those who have not shaken hands yet. */
  private readonly sockets = new Set<Socket>();
  /** Those that speak HTTP, by their peers. */
  private readonly connected = new Map<string, ClientConnection>();
  private readonly slots: ConnectionSlots;
  private readonly watch: Watch<ClientConnection>;
  private readonly answer: (asked: Asked) => void;

  constructor(options: ClientsOptions, answer: (asked: Asked) => void) {
    const { tls, request_ms } = options;
    this.options = options;
    this.limits = options;
    this.answer = answer;
    this.slots = new ConnectionSlots(options);
    this.watch = new Watch(Math.max(1, Math.min(MOST_LATE_MS, request_ms * LATE_SHARE)));
    const take = (socket: Socket) => this.take(socket);
    this.server =
      tls === null
        ? createServer({ noDelay: true }, take)
        : certified(() => secured({ ...tls, handshakeTimeout: request_ms }, take));
    const keep = (socket: Socket) => this.keep(socket);
    // Before it is taken, which with TLS happens only when hands were shaken.
    if (tls === null) this.server.prependListener("connection", keep);
    else this.server.on("connection", keep);
    // Whoever does not shake hands, or not in time, would stay otherwise.
    this.server.on("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  }

  /** Where clients find it; null as long as it does not listen. */
  get url(): string | null {
    return addressOf(this.server, this.options);
  }

  listen(): Promise<void> {
    return listenOn(this.server, this.options);
  }

  serve(asked: Asked): void {
    this.answer(asked);
  }

  gone(connection: ClientConnection): void {
    if (this.connected.get(connection.peer) === connection) this.connected.delete(connection.peer);
    this.watch.delete(connection);
  }

  /** Takes no more connections, and waits for answers under way; who has none after so long is hung up on. */
  async close(within_ms: number): Promise<void> {
    this.isClosing = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.connected.values()) if (connection.isIdle) connection.leave();
    using _patience = stopAfter(this.sockets, within_ms);
    await closed;
  }

  private keep(socket: Socket): void {
    const peer = peerOf(socket);
    if (this.slots.take(socket, () => this.connected.get(peer))) this.add(socket);
  }

  private add(socket: Socket): void {
    this.sockets.add(socket);
    socket.once("close", () => this.sockets.delete(socket));
  }

  private take(socket: Socket): void {
    if (this.isClosing) socket.destroy();
    if (socket.destroyed) return;
    // With TLS it is another one than that which was connected.
    if (!this.sockets.has(socket)) this.add(socket);
    const connection = new ClientConnection(socket, this);
    this.connected.set(connection.peer, connection);
    this.watch.add(connection);
  }
}

function secured(tls: TlsOptions, take: (socket: Socket) => void): Server {
  return createSecureServer({ ...tls, noDelay: true, ALPNProtocols: ["http/1.1"] }, take);
}
