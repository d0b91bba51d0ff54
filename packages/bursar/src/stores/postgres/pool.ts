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

/** The driver forgets a query now and then when its connection is cut: whoever was not told by then never will be. */
const FORGOTTEN_MS = 500;
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
  private readonly waiting = new Set<() => void>();

  /** `make` makes a server that says when its connection was lost. */
  constructor(make: (onclose: () => void) => Server, patience_ms: number) {
    this.server = make(() => this.cut());
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
    let giveUp = () => {};
    const silence = new Promise<never>((_, reject) => {
      giveUp = () => reject(new Silent());
    });
    const timer = setTimeout(giveUp, this.limit_ms);
    this.waiting.add(giveUp);
    try {
      return await Promise.race([answer, silence]);
    } finally {
      clearTimeout(timer);
      this.waiting.delete(giveUp);
    }
  }

  private cut(): void {
    const waiting = [...this.waiting];
    if (waiting.length === 0) return;
    setTimeout(() => {
      for (const giveUp of waiting) if (this.waiting.has(giveUp)) giveUp();
    }, FORGOTTEN_MS);
  }
}

interface Listening {
  readonly channel: string;
  readonly tell: (word: string) => void;
}

interface Place {
  line: Line;
  /** How many wait for an answer here. */
  asking: number;
}

/**
 * The connections of a store. The first that is free is taken, so that a lonely caller always meets the same one: a backend
 * that has just done the same work is a tenth faster than one that has slept. When one of them falls silent all are made
 * anew: the others go the same way.
 */
export class Pool implements Asking, AsyncDisposable {
  private readonly make: () => Line;
  private readonly places: readonly Place[];
  private readonly ending = new Set<Promise<void>>();
  private listening: Listening | null = null;
  private closed = false;

  /** `make` makes lines of one connection each. */
  constructor(make: () => Line, count: number) {
    this.make = make;
    this.places = Array.from({ length: count }, () => ({ line: make(), asking: 0 }));
  }

  async ask(sql: string, values?: readonly Value[]): Promise<readonly Row[]> {
    const place = this.free();
    const { line } = place;
    place.asking++;
    try {
      return await line.ask(sql, values);
    } catch (error) {
      if (error instanceof Silent) this.leave(line);
      throw error;
    } finally {
      place.asking--;
    }
  }

  /** A server that cannot be listened to right now is asked again when the connections are made anew. */
  listen(channel: string, tell: (word: string) => void): void {
    this.listening = { channel, tell };
    this.first.line.server.listen(channel, tell).catch(() => {});
  }

  notify(channel: string, word: string): void {
    this.ask("SELECT pg_notify($1, $2)", [channel, word]).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closed = true;
    await Promise.all([...this.places.map(({ line }) => line[Symbol.asyncDispose]()), ...this.ending]);
  }

  private get first(): Place {
    return this.places[0] as Place;
  }

  private free(): Place {
    let best = this.first;
    for (const place of this.places) {
      if (place.asking === 0) return place;
      if (place.asking < best.asking) best = place;
    }
    return best;
  }

  /** What others still wait for there is answered soon, or counts as lost; they ask again then. */
  private leave(silent: Line): void {
    if (this.closed || !this.places.some(({ line }) => line === silent)) return;
    for (const place of this.places) {
      this.end(place.line);
      place.line = this.make();
    }
    if (this.listening !== null) this.listen(this.listening.channel, this.listening.tell);
  }

  private end(line: Line): void {
    const ending = line[Symbol.asyncDispose]().catch(() => {});
    this.ending.add(ending);
    void ending.finally(() => this.ending.delete(ending));
  }
}
