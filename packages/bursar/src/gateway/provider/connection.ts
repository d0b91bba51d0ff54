import type { OnReadOpts, Socket } from "node:net";
import { isUnsent } from "../../models/meter/answer-status.js";
import type { AnswerHead } from "./answer-head.js";
import { ConnectionLost, MalformedAnswer, NotSent, UpstreamTimeout } from "./errors.js";
import type { RoundTrip } from "./round-trip.js";

export interface TimeLimits {
  /** For how long a provider may not be reached. */
  readonly connect_ms: number;
  /** How long a provider may take until it begins to answer. */
  readonly answer_ms: number;
  /** How long it may then be silent. */
  readonly silence_ms: number;
}

/** Whoever has opened a connection is told when it is free, and when it is gone. */
export interface ConnectionOwner {
  readonly limits: TimeLimits;
  freed(connection: Connection): void;
  gone(connection: Connection, wasConnected: boolean): void;
}

/**
 * Where every look at a socket puts what it finds, for all connections: it is copied from there before anybody else looks. To have
 * memory for each look, and to give back most of it, takes longer.
 */
const LOOKED_AT = Buffer.allocUnsafeSlow(64 * 1024);

/** A connection to a provider. It carries one request at a time, and is used again only where it is certain that the last has ended. */
export class Connection {
  /** When it has lasted long enough, whatever it is doing; by the clock of `performance`. */
  deadline: number;
  private readonly socket: Socket;
  private readonly owner: ConnectionOwner;
  private state: "connecting" | "waiting" | "reading" | "idle" | "gone" = "connecting";
  private trip: RoundTrip | null = null;
  private isPaused = false;

  constructor(owner: ConnectionOwner, connect: (onread: OnReadOpts) => Socket, ready: "connect" | "secureConnect") {
    this.owner = owner;
    this.deadline = performance.now() + owner.limits.connect_ms;
    const callback = (size: number, buffer: Uint8Array) => {
      this.read(Buffer.from(buffer.subarray(0, size)));
      return true;
    };
    const socket = connect({ buffer: LOOKED_AT, callback });
    this.socket = socket;
    socket.once(ready, () => this.ready());
    socket.on("end", () => this.end());
    socket.on("error", (error) => this.fail(error));
    socket.on("close", () => this.fail(new ConnectionLost()));
  }

  /** Whether it can carry another request right now. */
  isFree(now: number): boolean {
    return this.state === "idle" && now < this.deadline && !this.socket.destroyed;
  }

  /** Carries a request, as soon as it is connected. */
  carry(trip: RoundTrip): void {
    this.trip = trip;
    trip.start(this);
    if (this.state === "connecting") return;
    this.socket.ref();
    this.write(trip);
  }

  /** Nobody reads: so long as we ourselves hold it back, the provider is not the one who is silent. */
  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.deadline = Number.POSITIVE_INFINITY;
    this.socket.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.deadline = performance.now() + this.owner.limits.silence_ms;
    this.socket.resume();
  }

  /** Hangs up: what it was doing fails with the reason as it is. */
  abort(reason: unknown): void {
    const { trip } = this;
    this.destroy();
    trip?.fail(reason);
  }

  /** Its deadline has passed. */
  expire(): void {
    const { connect_ms, answer_ms, silence_ms } = this.owner.limits;
    if (this.state === "connecting") this.fail(new NotSent("connect_timeout", `nobody was there for ${connect_ms} ms`));
    else if (this.state === "waiting") this.fail(new UpstreamTimeout(answer_ms));
    else if (this.state === "reading") this.fail(new UpstreamTimeout(silence_ms));
    else this.destroy();
  }

  private ready(): void {
    if (this.trip !== null && this.state === "connecting") this.write(this.trip);
  }

  private write(trip: RoundTrip): void {
    this.state = "waiting";
    this.deadline = performance.now() + this.owner.limits.answer_ms;
    trip.isSent = true;
    trip.request.writeTo(this.socket);
  }

  private read(bytes: Buffer): void {
    const { trip } = this;
    try {
      if (trip === null || this.state === "connecting") throw new MalformedAnswer("nobody has asked for it");
      const isOver = trip.reader.read(bytes);
      const { head } = trip.reader;
      if (head !== null) this.goOn(trip, head, isOver);
    } catch (error) {
      this.fail(error);
    }
  }

  private goOn(trip: RoundTrip, head: AnswerHead, isOver: boolean): void {
    if (isOver) this.finish(trip, head);
    else {
      this.state = "reading";
      if (!this.isPaused) this.deadline = performance.now() + this.owner.limits.silence_ms;
    }
  }

  /** The provider has closed it. */
  private end(): void {
    const { trip } = this;
    try {
      trip?.reader.close();
      this.destroy();
      trip?.end();
    } catch (error) {
      this.fail(error);
    }
  }

  private finish(trip: RoundTrip, { idle_ms }: AnswerHead): void {
    if (idle_ms === 0 || this.socket.destroyed) this.destroy();
    else this.rest(idle_ms);
    trip.end();
  }

  private rest(idle_ms: number): void {
    if (this.isPaused) this.resume();
    this.trip = null;
    this.state = "idle";
    this.deadline = performance.now() + idle_ms;
    // What nobody uses keeps no process alive.
    this.socket.unref();
    if (this.socket.writableLength === 0) this.owner.freed(this);
    // Over TLS it is told at the end of a turn that everything was written.
    else setImmediate(() => this.settle());
  }

  /** A request that was answered before all of it was written leaves nothing that could be used again. */
  private settle(): void {
    if (this.state !== "idle") return;
    if (this.socket.writableLength === 0) this.owner.freed(this);
    else this.destroy();
  }

  /** Where nothing was sent, the error says so, and nowhere else: the system may call it the same when a network is gone. */
  private fail(error: unknown): void {
    const saysUnsent = isUnsent(error, null);
    if (saysUnsent === (this.state === "connecting")) this.abort(error);
    else if (saysUnsent) this.abort(new ConnectionLost("the provider cannot be reached any more"));
    else this.abort(new NotSent("connect_failed", "the provider could not be reached", error));
  }

  private destroy(): void {
    if (this.state === "gone") return;
    const wasConnected = this.state !== "connecting";
    this.state = "gone";
    this.trip = null;
    this.socket.destroy();
    this.owner.gone(this, wasConnected);
  }
}
