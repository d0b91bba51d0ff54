import { FsError } from "./errno.js";
import type { Moment } from "./inode.js";

/** How much a guest may put into its files. */
export interface StorageLimits {
  /** All bytes ever written, holes and growth included; what was overwritten or removed still counts. */
  readonly bytesWritten: number;
  /** Names that exist at one time: files, directories, links; and open files that have lost their name. */
  readonly files: number;
}

/** A path that could not be opened for writing: because it is read-only there, or because it was not found. */
export interface RefusedPath {
  readonly path: string;
  readonly isReadOnly: boolean;
}

export const DEFAULT_STORAGE_LIMITS: StorageLimits = { bytesWritten: 256 * 1024 * 1024, files: 10_000 };

/** What all inodes of a session share: the count of what they hold, the clock, and the numbers they are given. */
export class Storage {
  bytesWritten = 0;
  /** The largest write that did not fit, since somebody has last set this to 0. */
  bytesRefused = 0;
  /** The last path that could not be opened for writing, since somebody has last set this to null. */
  pathRefused: RefusedPath | null = null;
  files = 0;
  limits: StorageLimits;
  /** Grows with every change, so that changes since a mark can be told. */
  sequence = 1;
  nextInode = 1;
  now: () => Moment;

  constructor(limits: Partial<StorageLimits> = {}, now: () => Moment = Date.now) {
    this.limits = { ...DEFAULT_STORAGE_LIMITS, ...limits };
    this.now = now;
  }

  /** Refuses what would not fit, before anything is lost for it. */
  expectRoom(bytes: number): void {
    if (this.bytesWritten + bytes <= this.limits.bytesWritten) return;
    this.bytesRefused = Math.max(this.bytesRefused, bytes);
    throw new FsError("ENOSPC", `${this.limits.bytesWritten} bytes may be written in all`);
  }

  /** Counts bytes before they are written. */
  write(bytes: number): void {
    this.expectRoom(bytes);
    this.bytesWritten += bytes;
    this.sequence += 1;
  }

  /** Counts a name before it is made. */
  addFile(): void {
    if (this.files >= this.limits.files) throw new FsError("ENOSPC", `there may be ${this.limits.files} files`);
    this.files += 1;
    this.sequence += 1;
  }

  /** A real directory may lose more names than the guest has made; those do not add to its limit. */
  dropFile(): void {
    this.files = Math.max(0, this.files - 1);
    this.sequence += 1;
  }

  inode(): number {
    return this.nextInode++;
  }
}
