import type { Moment, NewTimes, Stat, SymlinkInode } from "./inode.js";
import type { Storage } from "./storage.js";

/** A symbolic link in memory; its target is a text that is looked at only when somebody follows it. */
export class MemorySymlink implements SymlinkInode {
  readonly kind = "symlink";
  readonly inode: number;
  readonly target: string;
  links = 0;
  accessed: Moment;
  modified: Moment;
  changed: Moment;
  private readonly storage: Storage;

  constructor(storage: Storage, inode: number, target: string) {
    this.storage = storage;
    this.inode = inode;
    this.target = target;
    this.accessed = this.modified = this.changed = storage.now();
  }

  /** Takes a name away. */
  unlink(): void {
    this.links -= 1;
    this.changed = this.storage.now();
    this.storage.dropFile();
  }

  stat(): Stat {
    const { kind, inode, links, accessed, modified, changed } = this;
    return { kind, device: 1, inode, links, size: Buffer.byteLength(this.target), accessed, modified, changed };
  }

  setTimes({ accessed, modified }: NewTimes): void {
    if (accessed !== undefined) this.accessed = accessed;
    if (modified !== undefined) this.modified = modified;
    this.changed = this.storage.now();
  }
}
