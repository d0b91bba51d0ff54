import { readFile, rename, rm, writeFile } from "node:fs/promises";
import type { Setup } from "./options.js";
import type { Pool } from "./pool.js";
import { Session } from "./session.js";
import type { SleepFolder } from "./sleep-folder.js";

/**
 * A session that is in memory while somebody uses it, and can be put on the disk otherwise. What is there is signed with a key
 * that only this process knows, so it is not taken back if anybody has touched it; it is not encrypted.
 */
export class Sleeper {
  readonly id: string;
  readonly language: Setup["language"];
  readonly created: number;
  private readonly pool: Pool;
  private readonly folder: SleepFolder;
  private session: Session | null;
  private asleep: { readonly file: string; readonly bytes: number; readonly awake_bytes: number } | null = null;
  private last: number;
  private users = 0;
  /** How often it was used: what was put together before a use is not the session any more. */
  private uses = 0;
  private destroyed = false;
  /** Falling asleep and waking up follow each other. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(session: Session, pool: Pool, folder: SleepFolder, now: number) {
    this.id = session.id;
    this.language = session.setup.language;
    this.session = session;
    this.pool = pool;
    this.folder = folder;
    this.created = now;
    this.last = now;
  }

  /** When it was used last. Whoever is at work is not idle, however long it takes. */
  get used(): number {
    return this.users > 0 ? Number.POSITIVE_INFINITY : this.last;
  }

  /** What it takes of the memory, about; also while it is on its way there. */
  get bytes(): number {
    return this.session?.bytes ?? (this.users > 0 ? this.missing : 0);
  }

  /** What it would take in addition if it were used. */
  get missing(): number {
    return this.session === null ? (this.asleep?.awake_bytes ?? 0) : 0;
  }

  /** The session while it is in memory. */
  get awake(): Session | null {
    return this.session;
  }

  async using<Value>(work: (session: Session) => Promise<Value>): Promise<Value> {
    this.users += 1;
    this.uses += 1;
    try {
      return await work(await this.wake());
    } finally {
      this.users -= 1;
      this.last = Date.now();
    }
  }

  /** Puts the session on the disk unless somebody uses it. It throws when the disk does not take it. */
  sleep(): Promise<void> {
    return this.inTurn(async () => {
      const { session } = this;
      if (session === null || this.users > 0 || this.destroyed) return;
      const { uses } = this;
      const bytes = await this.folder.sealed(await session.keep());
      if (this.uses !== uses || this.destroyed) return;
      const file = this.folder.fileFor(this.id, bytes.length);
      // Nobody sees half of it.
      const beside = `${file}.tmp`;
      try {
        await writeFile(beside, bytes, { mode: 0o600, flag: "wx" });
        await rename(beside, file);
      } catch (error) {
        this.folder.give(bytes.length);
        await rm(beside, { force: true });
        throw error;
      }
      this.asleep = { file, bytes: bytes.length, awake_bytes: session.bytes };
      if (this.uses !== uses || this.destroyed) return this.forgetFile();
      this.session = null;
      // A thread may still remember it, which nobody counts.
      this.pool.forget(this.id);
    });
  }

  async destroy(): Promise<void> {
    this.destroyed = true;
    this.session?.destroy();
    await this.inTurn(() => this.forgetFile());
  }

  private wake(): Promise<Session> {
    if (this.session !== null && this.asleep === null) return Promise.resolve(this.session);
    return this.inTurn(async () => {
      if (this.session !== null) return this.session;
      if (this.asleep === null || this.destroyed) throw new Error(`the session ${this.id} is gone; create another`);
      const kept = await this.folder.opened(await readFile(this.asleep.file).catch(() => new Uint8Array()));
      this.session = new Session(this.id, kept.setup, this.pool, kept);
      await this.forgetFile();
      return this.session;
    });
  }

  private async forgetFile(): Promise<void> {
    const { asleep } = this;
    this.asleep = null;
    if (asleep === null) return;
    this.folder.give(asleep.bytes);
    await rm(asleep.file, { force: true });
  }

  private inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.queue.then(work);
    this.queue = result.catch(() => {});
    return result;
  }
}
