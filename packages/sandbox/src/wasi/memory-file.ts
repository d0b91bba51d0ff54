import { copyBytes } from "./copy-bytes.js";
import { FsError } from "./errno.js";
import type { FileInode, Moment, NewTimes, OpenFile, Stat } from "./inode.js";
import type { Storage } from "./storage.js";

const SMALLEST = 256;
/** Beyond this a file no longer doubles, so that a large one does not take twice its size. */
const LARGEST_STEP = 64 * 1024 * 1024;
const NO_BYTES = new Uint8Array(0);

/**
 * A file in memory. Its bytes grow by doubling. They may be shared with a saved state or with other sessions; then they
 * are copied before the first change.
 */
export class MemoryFile implements FileInode, OpenFile {
  readonly kind = "file";
  writable = true;
  readonly inode: number;
  bytes: Uint8Array = NO_BYTES;
  length = 0;
  links = 0;
  accessed: Moment;
  modified: Moment;
  changed: Moment;
  /** When it was written to last, in the storage's own count. */
  modifiedAt: number;
  private opens = 0;
  /** Whether nobody else sees the bytes. */
  private owned = false;
  private readonly storage: Storage;

  constructor(storage: Storage, inode: number) {
    this.storage = storage;
    this.inode = inode;
    this.accessed = this.modified = this.changed = storage.now();
    this.modifiedAt = storage.sequence;
  }

  /** Takes bytes over without copying them. */
  adopt(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.length = bytes.length;
    this.owned = false;
  }

  /** The content as it is now; it stays so, because the next change copies. */
  share(): Uint8Array {
    this.owned = false;
    return this.bytes.subarray(0, this.length);
  }

  open(): this {
    this.opens += 1;
    return this;
  }

  close(): void {
    this.opens -= 1;
    this.dropIfLost();
  }

  /** Takes a name away; an open file without a name still counts as one, until it is closed. */
  unlink(): void {
    this.links -= 1;
    this.changed = this.storage.now();
    if (this.links > 0 || this.opens === 0) this.storage.dropFile();
  }

  size(): number {
    return this.length;
  }

  read(position: number, into: Uint8Array, at: number, length: number): number {
    const count = Math.min(length, this.length - position);
    if (count <= 0) return 0;
    copyBytes(this.bytes, position, into, at, count);
    return count;
  }

  write(position: number, from: Uint8Array, at: number, length: number): void {
    if (length === 0) return;
    const end = position + length;
    this.storage.write(length + Math.max(0, position - this.length));
    this.own(end);
    copyBytes(from, at, this.bytes, position, length);
    if (end > this.length) this.length = end;
    this.touch();
  }

  resize(size: number): void {
    if (size > this.length) {
      this.storage.write(size - this.length);
      this.own(size);
    } else {
      this.shrink(size);
    }
    this.length = size;
    this.storage.sequence += 1;
    this.touch();
  }

  sync(): void {}

  stat(): Stat {
    const { kind, inode, links, length, accessed, modified, changed } = this;
    return { kind, device: 1, inode, links, size: length, accessed, modified, changed };
  }

  setTimes({ accessed, modified }: NewTimes): void {
    if (accessed !== undefined) this.accessed = accessed;
    if (modified !== undefined) this.modified = modified;
    this.changed = this.storage.now();
  }

  private touch(): void {
    this.modified = this.changed = this.storage.now();
    this.modifiedAt = this.storage.sequence;
  }

  private dropIfLost(): void {
    if (this.links === 0 && this.opens === 0) {
      this.storage.dropFile();
      this.bytes = NO_BYTES;
      this.length = 0;
    }
  }

  /** Makes the bytes ours, with room for so many. What lies behind the end is always zero. */
  private own(size: number): void {
    const capacity = this.bytes.length;
    if (this.owned && size <= capacity) return;
    const doubled = Math.min(2 * capacity, capacity + LARGEST_STEP);
    const grown = allocate(Math.max(size, size > capacity ? doubled : capacity, SMALLEST));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.owned = true;
  }

  private shrink(size: number): void {
    if (size * 4 < this.bytes.length) {
      this.bytes = this.bytes.slice(0, size);
      this.owned = true;
    } else if (this.owned) {
      this.bytes.fill(0, size, this.length);
    }
  }
}

function allocate(size: number): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch {
    throw new FsError("EFBIG");
  }
}
