import { mkdir, open, readdir, readFile, rename, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { newName } from "../../runtime/names.js";
import { type KeptAnswer, readKept, writeKept } from "./kept-answer.js";

/** Names are hashes of what was asked, so that nothing in a request can point anywhere else. */
const FILE = /^[0-9a-f]{64}\.answer$/;
const UNFINISHED = /\.unfinished$/;
/** Who has not finished a file after so long has died. */
const UNFINISHED_MS = 600_000;
/** Answers that come faster than the disk takes them are not kept. */
const MOST_WAITING = 64;
/** Other processes may write into the same folder, which is noticed when it is looked through. */
const LOOK_AFTER = 256;

interface File {
  readonly bytes: number;
}

/**
 * Answers in files, one for each, up to a limit of bytes. A file is written beside its place and then put there, so that a crash
 * leaves none in halves; one that was changed is not believed. Whatever is wrong with the folder, an answer is only not kept.
 */
export class AnswerFolder {
  private readonly folder: string;
  private readonly most_bytes: number;
  /** What is there, as far as it was seen; the one that was not asked for longest is the first. */
  private files: Map<string, File> | null = null;
  private bytes = 0;
  private written = 0;
  private waiting = 0;
  private work: Promise<void> = Promise.resolve();

  constructor(folder: string, most_bytes: number) {
    this.folder = folder;
    this.most_bytes = most_bytes;
  }

  async read(key: string): Promise<KeptAnswer | null> {
    const path = this.pathOf(key);
    try {
      const kept = readKept(key, await readFile(path));
      if (kept === null) await unlink(path);
      else await this.touch(key, path);
      return kept;
    } catch {
      return null;
    }
  }

  /** Writes when its turn comes; nobody waits for it. */
  write(key: string, kept: KeptAnswer): void {
    if (this.waiting >= MOST_WAITING) return;
    this.waiting++;
    this.work = this.work
      .then(() => this.put(key, writeKept(key, kept)))
      .catch(() => {})
      .finally(() => {
        this.waiting--;
      });
  }

  settled(): Promise<void> {
    return this.work;
  }

  private async put(key: string, bytes: Buffer): Promise<void> {
    if (bytes.length > this.most_bytes) return;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    if (this.files === null || this.written % LOOK_AFTER === 0) await this.look();
    this.written++;
    await this.makeRoom(bytes.length);
    const beside = join(this.folder, `${newName(Date.now())}.unfinished`);
    try {
      const file = await open(beside, "wx", 0o600);
      try {
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
      await rename(beside, this.pathOf(key));
    } catch (error) {
      await unlink(beside).catch(() => {});
      throw error;
    }
    this.note(key, bytes.length);
  }

  /** Makes room before something is written, so that the limit holds at every moment. */
  private async makeRoom(bytes: number): Promise<void> {
    for (const oldest of [...(this.files?.keys() ?? [])]) {
      if (this.bytes + bytes <= this.most_bytes) return;
      await unlink(this.pathOf(oldest)).catch(() => {});
      this.forget(oldest);
    }
  }

  /** Looks through the folder. Files that nobody has finished go. */
  private async look(): Promise<void> {
    const names = await readdir(this.folder);
    const found: { readonly name: string; readonly bytes: number; readonly asked: number }[] = [];
    for (const name of names) {
      const about = await stat(join(this.folder, name)).catch(() => null);
      if (about === null) continue;
      if (FILE.test(name)) found.push({ name, bytes: about.size, asked: about.mtimeMs });
      else if (UNFINISHED.test(name) && about.mtimeMs < Date.now() - UNFINISHED_MS) {
        await unlink(join(this.folder, name)).catch(() => {});
      }
    }
    found.sort((a, b) => a.asked - b.asked);
    this.files = new Map(found.map(({ name, bytes }) => [name.slice(0, 64), { bytes }]));
    this.bytes = found.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  private async touch(key: string, path: string): Promise<void> {
    const known = this.files?.get(key);
    if (known !== undefined) this.note(key, known.bytes);
    const now = new Date();
    await utimes(path, now, now).catch(() => {});
  }

  private note(key: string, bytes: number): void {
    this.forget(key);
    this.files?.set(key, { bytes });
    this.bytes += bytes;
  }

  private forget(key: string): void {
    const known = this.files?.get(key);
    if (known === undefined) return;
    this.files?.delete(key);
    this.bytes -= known.bytes;
  }

  private pathOf(key: string): string {
    return join(this.folder, `${key}.answer`);
  }
}
