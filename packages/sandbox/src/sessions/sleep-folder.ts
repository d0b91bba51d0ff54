import { createHash, randomBytes, randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { readdir, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { makePrivateFolder } from "../wasm/private-folder.js";
import type { Kept } from "./session.js";
import { sign, verified } from "./signed.js";

/** A folder of a process that nobody can ask about, because it ran elsewhere, is left alone for so long. */
const LONGEST_MS = 24 * 60 * 60_000;
/** More than processes can have left behind; the rest is for the next start. */
const MOST_SWEPT = 1000;
const NAME = /^([0-9a-f]{16})-(\d{1,10})-[0-9a-f-]{36}$/;

/** A name for the folder of this process, below that of all of them. It tells others whether the process still lives. */
export function newSleepFolder(cache: string): string {
  return join(cache, "asleep", `${machine()}-${process.pid}-${randomUUID()}`);
}

/** Removes what processes have left behind that did not come to their end. */
export async function sweepSleepFolders(cache: string): Promise<void> {
  const all = join(cache, "asleep");
  const names = await readdir(all).catch(() => []);
  for (const name of names.slice(0, MOST_SWEPT)) {
    const [, where, pid] = NAME.exec(name) ?? [];
    if (where === undefined) continue;
    const gone = where === machine() ? !isAlive(Number(pid)) : false;
    if (gone || (await isOld(join(all, name)))) await rm(join(all, name), { recursive: true, force: true });
  }
}

/** Removes a folder with everything in it, from whatever process has used it. */
export function removeSleepFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Whoever starts next tries again.
  }
}

/** Where the sessions of one process sleep, and how much room they have there. */
export class SleepFolder {
  private readonly folder: string;
  private readonly mostBytes: number;
  private readonly key = randomBytes(32);
  private bytes = 0;
  private made = false;

  constructor(folder: string, mostBytes: number) {
    this.folder = folder;
    this.mostBytes = mostBytes;
  }

  sealed(kept: Kept): Promise<Uint8Array> {
    return sign(kept, this.key);
  }

  async opened(bytes: Uint8Array): Promise<Kept> {
    try {
      return await verified(bytes, this.key);
    } catch {
      throw new Error("the session cannot be read back from the disk: it was removed or changed there; create another");
    }
  }

  /** Where a session goes, with the room it takes until that is given back. It throws when there is none. */
  fileFor(session: string, bytes: number): string {
    if (this.bytes + bytes > this.mostBytes) {
      throw new Error(`${this.bytes + bytes} bytes of sessions would be on the disk; ${this.mostBytes} are allowed`);
    }
    if (!this.made) makePrivateFolder(this.folder);
    this.made = true;
    this.bytes += bytes;
    return join(this.folder, session);
  }

  give(bytes: number): void {
    this.bytes -= bytes;
  }

  /** Tells other machines that somebody still needs it. */
  async touch(): Promise<void> {
    const now = new Date();
    if (this.made) await utimes(this.folder, now, now).catch(() => {});
  }

  remove(): void {
    removeSleepFolder(this.folder);
  }
}

function machine(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 16);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function isOld(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > LONGEST_MS;
}
