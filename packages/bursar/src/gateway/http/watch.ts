/** A connection that lasts until its deadline, by the clock of `performance`. */
export interface Watched {
  readonly deadline: number;
  /** Its deadline has passed. */
  expire(): void;
  /** Hangs up. */
  abort(reason: Error): void;
}

/** Looks at all connections from time to time, and ends those whose time is over: one timer for all of them. */
export class Watch<Connection extends Watched> {
  private readonly connections = new Set<Connection>();
  private readonly every_ms: number;
  private timer: NodeJS.Timeout | null = null;

  constructor(every_ms: number) {
    this.every_ms = every_ms;
  }

  add(connection: Connection): void {
    this.connections.add(connection);
    // What has come in the meantime is read first: a process that was held up is not the provider's silence.
    this.timer ??= setInterval(() => setImmediate(() => this.look()), this.every_ms).unref();
  }

  delete(connection: Connection): void {
    this.connections.delete(connection);
  }

  /** Ends all of them now. */
  close(reason: Error): void {
    for (const connection of this.connections) connection.abort(reason);
    this.stop();
  }

  private look(): void {
    const now = performance.now();
    for (const connection of this.connections) {
      if (connection.deadline <= now) connection.expire();
    }
    if (this.connections.size === 0) this.stop();
  }

  private stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
