import { randomUUID } from "node:crypto";
import { openPackages } from "../packages/tree.js";
import type { Answer } from "../wasm/outcome.js";
import type { FileEntry, FileWork } from "./errand.js";
import { SandboxInputError, type Setup } from "./options.js";
import { PartsMaker } from "./parts.js";
import { Pool } from "./pool.js";
import { type Kept, Session, type Settings, type Turn } from "./session.js";

export interface KeeperOptions {
  /** Where derived files are kept: rewritten modules and images. */
  readonly cache: string;
  /** The module of the Python that comes from npm. */
  readonly python: string;
  /** Where faster builds of the interpreters may be; null when none is wanted. */
  readonly guests: string | null;
  /** Where vendored packages are. */
  readonly packages: string;
  readonly workers: number;
  readonly mostSessions: number;
  /** A session that nobody used for so long is destroyed. */
  readonly idle_ms: number;
}

/** What is told of a session in a list. */
export interface SessionInfo {
  readonly id: string;
  readonly language: Setup["language"];
  readonly created: number;
  readonly used: number;
}

/** Everything that can be asked of sessions. Here, or in another process: all of it fits into messages. */
export interface Keeping {
  create(setup: Setup): Promise<string>;
  begin(id: string, code: string, settings: Settings): Promise<Turn>;
  resume(id: string, answer: Answer): Promise<Turn>;
  drop(id: string): Promise<void>;
  cancel(id: string): Promise<void>;
  extend(id: string, fuel: number): Promise<void>;
  consumed(id: string): Promise<number>;
  files(id: string, work: FileWork): Promise<readonly FileEntry[] | Uint8Array | undefined>;
  keep(id: string): Promise<Kept>;
  adopt(kept: Kept): Promise<string>;
  list(): Promise<readonly SessionInfo[]>;
  destroy(id: string): Promise<void>;
  /** Makes what the first session of a language would have to wait for. */
  warm(setup: Setup): Promise<void>;
}

interface Kind {
  readonly session: Session;
  readonly created: number;
  used: number;
}

const SWEEP_MS = 10_000;

/** Holds sessions, and ends those that nobody uses. */
export class Keeper implements Keeping, AsyncDisposable {
  private readonly options: KeeperOptions;
  private readonly pool: Pool;
  private readonly parts: PartsMaker;
  private readonly sessions = new Map<string, Kind>();
  private readonly sweeping: NodeJS.Timeout;

  constructor(options: KeeperOptions) {
    this.options = options;
    this.parts = new PartsMaker(options.cache, options.python, options.guests);
    this.pool = new Pool({ workers: options.workers, packages: options.packages, parts: this.parts });
    this.sweeping = setInterval(() => this.sweep(), Math.min(SWEEP_MS, options.idle_ms)).unref();
  }

  async create(setup: Setup): Promise<string> {
    // A package that is missing or damaged is better known now than in the middle of a program.
    if (setup.packages.length > 0) await openPackages(this.options.packages, setup.packages);
    return this.add(new Session(randomUUID(), setup, this.pool));
  }

  async begin(id: string, code: string, settings: Settings): Promise<Turn> {
    return this.using(id, (session) => session.begin(code, settings));
  }

  async resume(id: string, answer: Answer): Promise<Turn> {
    return this.using(id, (session) => session.resume(answer));
  }

  async drop(id: string): Promise<void> {
    return this.using(id, (session) => session.drop());
  }

  async cancel(id: string): Promise<void> {
    this.find(id).session.cancel();
  }

  async extend(id: string, fuel: number): Promise<void> {
    this.find(id).session.extend(fuel);
  }

  async consumed(id: string): Promise<number> {
    return this.find(id).session.consumed;
  }

  async files(id: string, work: FileWork): Promise<readonly FileEntry[] | Uint8Array | undefined> {
    return this.using(id, (session) => session.files(work));
  }

  async keep(id: string): Promise<Kept> {
    return this.using(id, (session) => session.keep());
  }

  /** A session that was kept goes on under a name of its own: it may be brought back more than once. */
  async adopt(kept: Kept): Promise<string> {
    return this.add(new Session(randomUUID(), kept.setup, this.pool, kept));
  }

  async list(): Promise<readonly SessionInfo[]> {
    return [...this.sessions.values()].map(({ session: { id, setup }, created, used }) => {
      return { id, language: setup.language, created, used };
    });
  }

  async destroy(id: string): Promise<void> {
    this.find(id).session.destroy();
    this.sessions.delete(id);
  }

  async warm(setup: Setup): Promise<void> {
    await this.parts.make(setup);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.sweeping);
    for (const { session } of this.sessions.values()) session.destroy();
    this.sessions.clear();
    await this.pool[Symbol.asyncDispose]();
  }

  private add(session: Session): string {
    if (this.sessions.size >= this.options.mostSessions) {
      throw new SandboxInputError("sessions", `are ${this.sessions.size} already, the most allowed; destroy one first`);
    }
    const now = Date.now();
    this.sessions.set(session.id, { session, created: now, used: now });
    return session.id;
  }

  private async using<Value>(id: string, work: (session: Session) => Promise<Value>): Promise<Value> {
    const kind = this.find(id);
    // Whoever is at work is not idle, however long it takes.
    kind.used = Number.POSITIVE_INFINITY;
    try {
      return await work(kind.session);
    } finally {
      kind.used = Date.now();
    }
  }

  private find(id: string): Kind {
    const found = this.sessions.get(id);
    if (found !== undefined) return found;
    throw new SandboxInputError("session", `${JSON.stringify(id)} is not there: it was destroyed, or has expired`);
  }

  private sweep(): void {
    const before = Date.now() - this.options.idle_ms;
    for (const [id, { session, used }] of this.sessions) {
      if (used > before) continue;
      session.destroy();
      this.sessions.delete(id);
    }
  }
}
