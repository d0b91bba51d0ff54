import type { Row } from "postgres";
import type { Server } from "./connect.js";

type Value = string | number | null;

/** Whoever can be asked in SQL: a pool of connections, or a single one. */
export interface Asking {
  ask(sql: string, values?: readonly Value[]): Promise<readonly Row[]>;
}

/** No answer came in time. Whether the server has done what it was asked is not known. */
export class Silent extends Error {
  override readonly name = "Silent";
  readonly code = "ETIMEDOUT";

  constructor() {
    super("it does not answer");
  }
}

/** So long beyond the longest wait for a lock, so that the server can still say itself what was wrong. */
const GRACE_MS = 1000;
const GOODBYE_S = 1;

/**
 * Connections on which nobody waits for ever. A wire that was cut without a word looks like a server that is busy, and the
 * machine finds out only after a quarter of an hour.
 */
export class Line implements Asking, AsyncDisposable {
  readonly server: Server;
  private readonly limit_ms: number;

  constructor(server: Server, patience_ms: number) {
    this.server = server;
    this.limit_ms = patience_ms + GRACE_MS;
  }

  ask(sql: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return this.heard(this.server.unsafe(sql, [...values], { prepare: values.length > 0 }));
  }

  /** Several statements in one message. */
  async script(sql: string): Promise<void> {
    await this.heard(this.server.unsafe(sql).simple());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.end({ timeout: GOODBYE_S });
  }

  private async heard<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Silent()), this.limit_ms);
    });
    try {
      return await Promise.race([answer, silence]);
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Listening {
  readonly channel: string;
  readonly tell: () => void;
}

/** The connections of a store. When one of them falls silent all are made anew: the others go the same way. */
export class Pool implements Asking, AsyncDisposable {
  private readonly make: () => Line;
  private readonly ending = new Set<Promise<void>>();
  private line: Line;
  private listening: Listening | null = null;
  private closed = false;

  constructor(make: () => Line, first: Line) {
    this.make = make;
    this.line = first;
  }

  async ask(sql: string, values?: readonly Value[]): Promise<readonly Row[]> {
    const { line } = this;
    try {
      return await line.ask(sql, values);
    } catch (error) {
      if (error instanceof Silent) this.leave(line);
      throw error;
    }
  }

  /** A server that cannot be listened to right now is asked again when the connections are made anew. */
  listen(channel: string, tell: () => void): void {
    this.listening = { channel, tell };
    this.line.server.listen(channel, tell).catch(() => {});
  }

  notify(channel: string, word: string): void {
    this.line.server.notify(channel, word).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    await Promise.all([this.line[Symbol.asyncDispose](), ...this.ending]);
  }

  /** What others still wait for there is answered soon, or counts as lost; they ask again then. */
  private leave(line: Line): void {
    if (this.line !== line || this.closed) return;
    this.line = this.make();
    const ending = line[Symbol.asyncDispose]().catch(() => {});
    this.ending.add(ending);
    void ending.finally(() => this.ending.delete(ending));
    if (this.listening !== null) this.listen(this.listening.channel, this.listening.tell);
  }
}
