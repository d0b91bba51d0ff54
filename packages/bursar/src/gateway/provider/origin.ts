import { connect, isIP, type OnReadOpts, type Socket } from "node:net";
import { createSecureContext, type SecureContext, connect as secureConnect } from "node:tls";
import type { Watch } from "../http/watch.js";
import { Connection, type ConnectionOwner, type TimeLimits } from "./connection.js";
import { NotSent } from "./errors.js";
import type { RoundTrip } from "./round-trip.js";

/** How long a connection is silent until the system asks whether the other side is still there. */
const PROBE_MS = 60_000;

/** Where a provider is, and the connections to it. */
export class Origin implements ConnectionOwner {
  readonly limits: TimeLimits;
  private readonly watch: Watch<Connection>;
  private readonly isSecure: boolean;
  private readonly host: string;
  private readonly port: number;
  private readonly due: RoundTrip[] = [];
  /** Those that nobody uses, the one used last at the end: it is the least likely to be closed. */
  private readonly idle: Connection[] = [];
  /** Whose certificates are trusted, which takes long to read. */
  private context: SecureContext | null = null;
  /** With it, the next connection is made in fewer steps. */
  private session: Buffer | null = null;

  constructor({ protocol, hostname, port }: URL, limits: TimeLimits, watch: Watch<Connection>) {
    this.limits = limits;
    this.watch = watch;
    this.isSecure = protocol === "https:";
    this.host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    this.port = port === "" ? (this.isSecure ? 443 : 80) : Number(port);
  }

  /**
   * Sends it at the end of this turn, with all others. By then whatever has come in this turn is read, so that a connection that was
   * closed, or on which somebody has said something, is not used; and who is asked by many at once is woken once.
   */
  send(trip: RoundTrip): void {
    if (this.due.push(trip) === 1) setImmediate(() => this.sendDue());
  }

  /** Sends nothing that is due. */
  close(reason: Error): void {
    for (const trip of this.due.splice(0)) trip.fail(reason);
  }

  freed(connection: Connection): void {
    this.idle.push(connection);
  }

  gone(connection: Connection, wasConnected: boolean): void {
    this.watch.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    // It may be the reason.
    if (!wasConnected) this.session = null;
  }

  private sendDue(): void {
    for (const trip of this.due.splice(0)) {
      if (trip.isOver) continue;
      try {
        (this.free() ?? this.open()).carry(trip);
      } catch (error) {
        trip.fail(new NotSent("connect_failed", "the provider could not be reached", error));
      }
    }
  }

  private free(): Connection | null {
    if (this.idle.length === 0) return null;
    const now = performance.now();
    for (;;) {
      const connection = this.idle.pop();
      if (connection === undefined) return null;
      if (connection.isFree(now)) return connection;
      connection.expire();
    }
  }

  private open(): Connection {
    const ready = this.isSecure ? "secureConnect" : "connect";
    const connection = new Connection(this, (onread) => this.connect(onread), ready);
    this.watch.add(connection);
    return connection;
  }

  private connect(onread: OnReadOpts): Socket {
    const { host, port, session } = this;
    const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS, onread };
    if (!this.isSecure) return connect(options);
    this.context ??= createSecureContext();
    const socket = secureConnect({
      ...options,
      secureContext: this.context,
      ALPNProtocols: ["http/1.1"],
      // An address has no name, and no certificate is chosen by it.
      ...(isIP(host) === 0 && { servername: host }),
      ...(session !== null && { session }),
    });
    socket.on("session", (given: Buffer) => {
      this.session = given;
    });
    return socket;
  }
}
