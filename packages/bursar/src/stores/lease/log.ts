import { type FileHandle, mkdir, open } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Json } from "../../core/chain/canonical.js";
import { appendLink, emptyHead, type Head } from "../../core/chain/link.js";
import { sha256Hex } from "../../runtime/crypto.js";

/** The links of a lease's log. */
const LOG_ACTIONS = { opened: "LeaseLogOpened", used: "LeaseUsed" } as const;

/** What is noted of a slice: that it was granted, what calls did with it, that it was given back. */
export type Note = readonly Json[];

interface Waiting {
  readonly note: Note;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The proof of what a process has done with its leases, in a file of its own: a chain like any other. Nothing is admitted
 * before it stands there and the disk has it, so after a crash whatever is not in the file was not used. Notes made at the
 * same time share one link and one sync.
 */
export class LeaseLog {
  private readonly file: FileHandle;
  private readonly now: () => number;
  private head: Head;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | null = null;
  private broken: unknown = null;

  static async open(path: string, holder: string, now: () => number): Promise<LeaseLog> {
    await mkdir(dirname(path), { recursive: true });
    const file = await open(path, "ax");
    const log = new LeaseLog(file, emptyHead(holder), now);
    await log.append(LOG_ACTIONS.opened, [[process.pid, hostname()]]);
    return log;
  }

  private constructor(file: FileHandle, head: Head, now: () => number) {
    this.file = file;
    this.head = head;
    this.now = now;
  }

  /** A file that could not be written once proves nothing any more. */
  get isBroken(): boolean {
    return this.broken !== null;
  }

  /** Resolves when the disk has it. */
  write(note: Note): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.broken !== null) return reject(this.broken);
      this.waiting.push({ note, resolve, reject });
      this.writing ??= this.drain();
    });
  }

  async close(): Promise<void> {
    await this.writing;
    await this.file.close();
  }

  private async drain(): Promise<void> {
    // Everybody who writes in this turn of the event loop goes together.
    await null;
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      try {
        if (this.broken !== null) throw this.broken;
        await this.append(
          LOG_ACTIONS.used,
          group.map(({ note }) => note),
        );
        for (const { resolve } of group) resolve();
      } catch (error) {
        this.broken = error;
        for (const { reject } of group) reject(error);
      }
    }
    // Here and not later: whoever writes in the next moment must not take this for somebody who is still at work.
    this.writing = null;
  }

  private async append(action_type: string, notes: readonly Note[]): Promise<void> {
    const draft = { action_type, at: this.now(), cause: null, data: { notes } };
    const { head, line } = appendLink(this.head, draft, sha256Hex);
    await this.file.appendFile(`${line}\n`);
    await this.file.datasync();
    this.head = head;
  }
}
