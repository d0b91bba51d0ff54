import { randomUUID } from "node:crypto";
import { storedProblems } from "../packages/manage.js";
import { openPackages } from "../packages/tree.js";
import type { Answer } from "../wasm/outcome.js";
import type { FileEntry, FileWork } from "./errand.js";
import { SandboxInputError } from "./input-error.js";
import type { Setup } from "./options.js";
import { PartsMaker } from "./parts.js";
import { Pool } from "./pool.js";
import { buildOf } from "./saved-build.js";
import { type Kept, type Listener, type Progress, Session, type Terms, type Turn } from "./session.js";
import { SleepFolder } from "./sleep-folder.js";
import { Sleeper } from "./sleeper.js";

export interface KeeperOptions {
  /** Where derived files are kept: rewritten modules and images. */
  readonly cache: string;
  /** The module of the Python that comes from npm. */
  readonly python: string;
  /** The module of QuickJS. */
  readonly quickjs: string;
  /** Where faster builds of the interpreters may be; null when none is wanted. */
  readonly guests: string | null;
  /** Where the faster build is that was installed from npm; null when none is, or none is wanted. */
  readonly installed: string | null;
  /** Where vendored packages are. */
  readonly packages: string;
  readonly workers: number;
  readonly mostSessions: number;
  /** A session that nobody used for so long is destroyed. */
  readonly idle_ms: number;
  /** The folder of this keeper alone, for sessions that nobody uses. */
  readonly asleep: string;
  /** A session that nobody used for so long goes there. */
  readonly sleep_ms: number;
  /** How much memory all sessions together may take between executions before the oldest go there. */
  readonly mostParkedBytes: number;
  /** How much they may take there. */
  readonly mostAsleepBytes: number;
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
  begin(id: string, code: string, settings: Terms, listener: Listener | null): Promise<Turn>;
  resume(id: string, answer: Answer, listener: Listener | null): Promise<Turn>;
  drop(id: string): Promise<void>;
  cancel(id: string): Promise<void>;
  extend(id: string, fuel: number): Promise<void>;
  allow(id: string, fuel: number, storage_bytes?: number, memory_bytes?: number): Promise<void>;
  progress(id: string): Promise<Progress | null>;
  files(id: string, work: FileWork): Promise<readonly FileEntry[] | Uint8Array | undefined>;
  keep(id: string): Promise<Kept>;
  adopt(kept: Kept): Promise<string>;
  /** Names the build of the interpreter that a session would run in. */
  build(setup: Setup): Promise<string>;
  list(): Promise<readonly SessionInfo[]>;
  packageProblems(packages: readonly string[]): Promise<readonly string[]>;
  destroy(id: string): Promise<void>;
  /** Makes what the first session of a language would have to wait for. */
  warm(setup: Setup): Promise<void>;
}

const SWEEP_MS = 10_000;

/** Holds sessions, puts those on the disk that nobody uses, and ends them after a while. */
export class Keeper implements Keeping, AsyncDisposable {
  private readonly options: KeeperOptions;
  private readonly pool: Pool;
  private readonly parts: PartsMaker;
  private readonly sessions = new Map<string, Sleeper>();
  private readonly folder: SleepFolder;
  private readonly sweeping: NodeJS.Timeout;
  /** Why the last session that should have gone to the disk did not. */
  private trouble: string | null = null;

  constructor(options: KeeperOptions) {
    this.options = options;
    this.parts = new PartsMaker(options.cache, options.python, options.guests, options.quickjs, options.installed);
    this.pool = new Pool({ workers: options.workers, packages: options.packages, parts: this.parts });
    this.folder = new SleepFolder(options.asleep, options.mostAsleepBytes);
    const often = Math.min(SWEEP_MS, options.idle_ms, options.sleep_ms);
    // What could not be removed goes with the folder.
    this.sweeping = setInterval(() => void this.sweep().catch(() => {}), often).unref();
  }

  async create(setup: Setup): Promise<string> {
    // A package that is missing or damaged is better known now than in the middle of a program.
    await this.checkPackages(setup);
    return this.add(new Session(randomUUID(), setup, this.pool));
  }

  async build(setup: Setup): Promise<string> {
    return buildOf(await this.parts.make(setup));
  }

  async begin(id: string, code: string, settings: Terms, listener: Listener | null): Promise<Turn> {
    await this.expectRoom(this.find(id).missing);
    return this.using(id, (session) => session.begin(code, settings, listener));
  }

  async resume(id: string, answer: Answer, listener: Listener | null): Promise<Turn> {
    const { missing } = this.find(id);
    // One that is in memory may go on, however full it is: when its program has ended there is less of it.
    if (missing > 0) await this.expectRoom(missing);
    return this.using(id, (session) => session.resume(answer, listener));
  }

  async drop(id: string): Promise<void> {
    return this.using(id, (session) => session.drop());
  }

  async cancel(id: string): Promise<void> {
    // Nothing of a session runs that is asleep.
    this.find(id).awake?.cancel();
  }

  async extend(id: string, fuel: number): Promise<void> {
    return this.using(id, async (session) => session.extend(fuel));
  }

  async allow(id: string, fuel: number, storage_bytes?: number, memory_bytes?: number): Promise<void> {
    return this.using(id, async (session) => session.allow(fuel, storage_bytes, memory_bytes));
  }

  async progress(id: string): Promise<Progress | null> {
    return this.using(id, async (session) => session.progress);
  }

  async files(id: string, work: FileWork): Promise<readonly FileEntry[] | Uint8Array | undefined> {
    const { missing } = this.find(id);
    if (missing > 0 || work.kind === "write") await this.expectRoom(missing);
    return this.using(id, (session) => session.files(work));
  }

  async keep(id: string): Promise<Kept> {
    return this.using(id, (session) => session.keep());
  }

  /** A session that was kept goes on under a name of its own: it may be brought back more than once. */
  async adopt(kept: Kept): Promise<string> {
    await this.checkPackages(kept.setup);
    return this.add(new Session(randomUUID(), kept.setup, this.pool, kept));
  }

  packageProblems(packages: readonly string[]): Promise<readonly string[]> {
    return storedProblems(this.options.packages, packages);
  }

  async list(): Promise<readonly SessionInfo[]> {
    return [...this.sessions.values()].map(({ id, language, created, used }) => ({ id, language, created, used }));
  }

  async destroy(id: string): Promise<void> {
    const found = this.find(id);
    this.sessions.delete(id);
    await found.destroy();
  }

  async warm(setup: Setup): Promise<void> {
    await this.parts.make(setup);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.sweeping);
    const all = [...this.sessions.values()];
    this.sessions.clear();
    await this.pool[Symbol.asyncDispose]();
    await Promise.all(all.map((each) => each.destroy()));
    this.folder.remove();
  }

  private async checkPackages({ packages }: Setup): Promise<void> {
    if (packages.length > 0) await openPackages(this.options.packages, packages);
  }

  private async add(session: Session): Promise<string> {
    await this.expectRoom(session.bytes);
    if (this.sessions.size >= this.options.mostSessions) {
      throw new SandboxInputError("sessions", `are ${this.sessions.size} already, the most allowed; destroy one first`);
    }
    this.sessions.set(session.id, new Sleeper(session, this.pool, this.folder, Date.now()));
    return session.id;
  }

  private using<Value>(id: string, work: (session: Session) => Promise<Value>): Promise<Value> {
    return this.find(id).using(work);
  }

  /** Puts sessions on the disk until so much more fits into the memory; those first that nobody has used for longest. */
  private async expectRoom(more: number): Promise<void> {
    const { mostParkedBytes } = this.options;
    let total = [...this.sessions.values()].reduce((sum, { bytes }) => sum + bytes, more);
    if (total <= mostParkedBytes) return;
    const idle = [...this.sessions.values()].filter(({ used, bytes }) => used < Number.POSITIVE_INFINITY && bytes > 0);
    for (const each of idle.sort((one, other) => one.used - other.used)) {
      const { bytes } = each;
      await this.putToSleep(each);
      total -= bytes - each.bytes;
      if (total <= mostParkedBytes) return;
    }
    const why = this.trouble === null ? "" : `, and cannot be put on the disk (${this.trouble})`;
    throw new SandboxInputError(
      "mostParkedBytes",
      `is ${mostParkedBytes}: sessions would take ${total} bytes of memory${why}; wait, destroy some, or allow more`,
    );
  }

  private async putToSleep(session: Sleeper): Promise<void> {
    try {
      await session.sleep();
      this.trouble = null;
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
  }

  private find(id: string): Sleeper {
    const found = this.sessions.get(id);
    if (found !== undefined) return found;
    throw new SandboxInputError("session", `${JSON.stringify(id)} is not there: it was destroyed, or has expired`);
  }

  private async sweep(): Promise<void> {
    const now = Date.now();
    for (const [id, session] of this.sessions) {
      if (session.used <= now - this.options.idle_ms) {
        this.sessions.delete(id);
        await session.destroy();
      } else if (session.used <= now - this.options.sleep_ms) {
        await this.putToSleep(session);
      }
    }
    await this.folder.touch();
  }
}
