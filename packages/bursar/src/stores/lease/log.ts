import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Json } from "../../core/chain/canonical.js";
import { appendLink, emptyHead, type Head } from "../../core/chain/link.js";
import type { Dimensions } from "../../core/dimensions.js";
import { sha256Hex } from "../../runtime/crypto.js";
import { ownerHere } from "./owner.js";
import { type Note, Proofs } from "./proofs.js";

/** The links of a lease's log. */
const LOG_ACTIONS = { opened: "LeaseLogOpened", used: "LeaseUsed" } as const;
/** A file that is longer is begun anew, with what it comes to. */
const MOST_BYTES = 16 * 1024 * 1024;
/** So many notes of what a file came to stand in one link. */
const NOTES_A_LINK = 500;

interface Waiting {
  readonly note: Note;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface LeaseLogOptions {
  readonly path: string;
  readonly holder: string;
  readonly dimensions: Dimensions;
  readonly now: () => number;
  readonly most_bytes?: number;
}

/**
 * The proof of what a process has done with its leases, in a file of its own: a chain like any other. Nothing is admitted
 * before it stands there and the disk has it, so after a crash whatever is not in the file was not used. Notes made at the
 * same time share one link and one sync.
 */
export class LeaseLog {
  private readonly options: LeaseLogOptions;
  private readonly proofs: Proofs;
  private readonly most_bytes: number;
  private file: LogFile;
  /** From this size on it is begun anew. */
  private full: number;
  private waiting: Waiting[] = [];
  private writing: Promise<void> | null = null;
  private broken: unknown = null;

  static async open(options: LeaseLogOptions): Promise<LeaseLog> {
    await mkdir(dirname(options.path), { recursive: true });
    const file = await LogFile.open(options.path, "ax", options);
    return new LeaseLog(options, file);
  }

  private constructor(options: LeaseLogOptions, file: LogFile) {
    this.options = options;
    this.proofs = new Proofs(options.dimensions);
    this.most_bytes = options.most_bytes ?? MOST_BYTES;
    this.full = this.most_bytes;
    this.file = file;
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

  /** Who has given everything back leaves nothing to prove. */
  async close(): Promise<void> {
    await this.writing;
    await this.file.close();
    if (this.proofs.isEmpty && this.broken === null) await rm(this.options.path, { force: true });
  }

  private async drain(): Promise<void> {
    // Everybody who writes in this turn of the event loop goes together.
    await null;
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      try {
        if (this.broken !== null) throw this.broken;
        const notes = group.map(({ note }) => note);
        await this.file.append(LOG_ACTIONS.used, notes);
        for (const note of notes) this.proofs.take(note);
        for (const { resolve } of group) resolve();
        if (this.file.size >= this.full) await this.renew();
      } catch (error) {
        this.broken = error;
        // Whoever read it after a crash would take it for all that was used. Without it, all that was leased counts as used.
        await rm(this.options.path, { force: true }).catch(() => {});
        for (const { reject } of group) reject(error);
      }
    }
    // Here and not later: whoever writes in the next moment must not take this for somebody who is still at work.
    this.writing = null;
  }

  /** Begins the file anew with what it comes to. Until the new one is whole and on the disk, the old one is the proof. */
  private async renew(): Promise<void> {
    const { path } = this.options;
    const next = `${path}.next`;
    let file: LogFile | null = null;
    try {
      file = await LogFile.open(next, "w", this.options, this.file.head.hash);
      const notes = [...this.proofs.notes()];
      for (let at = 0; at < notes.length; at += NOTES_A_LINK) {
        await file.append(LOG_ACTIONS.used, notes.slice(at, at + NOTES_A_LINK));
      }
      await rename(next, path);
    } catch {
      // There is no room perhaps. The old one is as good as before, needs what there is, and it is tried again later.
      await file?.close().catch(() => {});
      await rm(next, { force: true }).catch(() => {});
      this.full = this.file.size + this.most_bytes;
      return;
    }
    const old = this.file;
    this.file = file;
    this.full = Math.max(this.most_bytes, file.size * 2);
    await old.close().catch(() => {});
    await syncFolder(dirname(path));
  }
}

/** One file of links. */
class LogFile {
  private readonly file: FileHandle;
  private readonly now: () => number;
  head: Head;
  size = 0;

  /** `before` is the hash of the last link of the file that it stands in for. */
  static async open(
    path: string,
    flags: "ax" | "w",
    { holder, now }: LeaseLogOptions,
    before: string | null = null,
  ): Promise<LogFile> {
    const opened = new LogFile(await open(path, flags, 0o600), emptyHead(holder), now);
    const owner = [...ownerHere()];
    try {
      await opened.append(LOG_ACTIONS.opened, before === null ? [owner] : [owner, ["instead of", before]]);
    } catch (error) {
      await opened.close().catch(() => {});
      throw error;
    }
    return opened;
  }

  private constructor(file: FileHandle, head: Head, now: () => number) {
    this.file = file;
    this.head = head;
    this.now = now;
  }

  async append(action_type: string, notes: readonly (readonly Json[])[]): Promise<void> {
    const draft = { action_type, at: this.now(), cause: null, data: { notes } };
    const { head, line } = appendLink(this.head, draft, sha256Hex);
    await this.file.appendFile(`${line}\n`);
    await this.file.datasync();
    this.head = head;
    this.size += line.length + 1;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

/** A name that was given to another file is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  // Some systems do not let a folder be opened; they keep names by themselves.
  const folder = await open(path, "r").catch(() => null);
  try {
    await folder?.sync();
  } finally {
    await folder?.close();
  }
}
