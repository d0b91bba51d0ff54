import { FsError } from "./errno.js";
import type { Moment, NewTimes, Stat } from "./inode.js";
import { type DirectoryEntry, type DirectoryInode, FIRST_COOKIE, type Inode } from "./inode.js";
import { MemoryFile } from "./memory-file.js";
import { MemorySymlink } from "./memory-symlink.js";
import type { Storage } from "./storage.js";

/** What may stand in a directory in memory and belongs to it; everything else there was mounted. */
export type MemoryInode = MemoryFile | MemoryDirectory | MemorySymlink;

export interface Child {
  readonly inode: Inode;
  readonly cookie: number;
}

/** A directory in memory, where mounts and devices may be attached. */
export class MemoryDirectory implements DirectoryInode {
  readonly kind = "directory";
  readonly inode: number;
  /** In the order of their cookies, because a name that is new comes last and one that is replaced keeps its place. */
  readonly children: Map<string, Child> = new Map();
  parent: MemoryDirectory | null = null;
  nextCookie: number = FIRST_COOKIE;
  /** Whether it has lost its name; nothing can be made in it then. */
  removed = false;
  /** Whether it leads to a mount; then it stays where it is. */
  pinned = false;
  /** Whether names can be made and removed in it; those below it decide for themselves. */
  writable = true;
  accessed: Moment;
  modified: Moment;
  changed: Moment;
  private readonly storage: Storage;

  constructor(storage: Storage, inode: number) {
    this.storage = storage;
    this.inode = inode;
    this.accessed = this.modified = this.changed = storage.now();
  }

  lookup(name: string): Inode | undefined {
    return this.children.get(name)?.inode;
  }

  count(): number {
    return this.children.size;
  }

  *entriesAfter(cookie: number): Generator<DirectoryEntry> {
    for (const [name, child] of this.children) {
      if (child.cookie <= cookie) continue;
      yield { cookie: child.cookie, name, kind: child.inode.kind, inode: inodeNumber(child.inode) };
    }
  }

  createFile(name: string): MemoryFile {
    this.expectFree(name);
    const file = new MemoryFile(this.storage, this.storage.inode());
    this.add(name, file);
    return file;
  }

  createDirectory(name: string): MemoryDirectory {
    this.expectFree(name);
    const directory = new MemoryDirectory(this.storage, this.storage.inode());
    this.add(name, directory);
    return directory;
  }

  createSymlink(name: string, target: string): void {
    this.expectFree(name);
    this.storage.write(Buffer.byteLength(target));
    this.add(name, new MemorySymlink(this.storage, this.storage.inode(), target));
  }

  link(name: string, inode: Inode): void {
    this.expectFree(name);
    if (inode instanceof MemoryDirectory) throw new FsError("EPERM", "a directory has one name");
    if (!isLinkable(inode)) throw new FsError("EXDEV");
    this.add(name, inode);
    inode.changed = this.storage.now();
  }

  removeFile(name: string): void {
    const inode = this.expectOwn(name);
    if (inode instanceof MemoryDirectory) throw new FsError("EISDIR");
    this.drop(name);
    inode.unlink();
  }

  removeDirectory(name: string): void {
    const inode = this.expectOwn(name);
    if (!(inode instanceof MemoryDirectory)) throw new FsError("ENOTDIR");
    if (inode.children.size > 0) throw new FsError("ENOTEMPTY");
    this.drop(name);
    inode.removed = true;
    inode.parent = null;
    this.storage.dropFile();
  }

  rename(name: string, directory: DirectoryInode, newName: string): void {
    const inode = this.expectOwn(name);
    if (!(directory instanceof MemoryDirectory)) throw new FsError("EXDEV");
    directory.expectWritable();
    if (directory.removed) throw new FsError("ENOENT");
    const replaced = directory.lookup(newName);
    if (replaced === inode) return;
    if (inode instanceof MemoryDirectory && inode.holds(directory)) {
      throw new FsError("EINVAL", "a directory cannot move into itself");
    }
    if (replaced !== undefined) directory.clear(newName, replaced, inode);
    this.drop(name);
    directory.place(newName, inode);
    if (inode instanceof MemoryDirectory) inode.parent = directory;
    inode.changed = this.storage.now();
    this.storage.sequence += 1;
  }

  /** Puts something there that comes from outside; it cannot be removed, and neither can the way to it. */
  attach(name: string, inode: Inode): void {
    if (this.children.has(name)) throw new FsError("EEXIST", name);
    this.place(name, inode);
    for (let each: MemoryDirectory | null = this; each !== null; each = each.parent) each.pinned = true;
  }

  /** Puts a name there that was saved, with its cookie. */
  reattach(name: string, inode: Inode, cookie: number): void {
    this.children.set(name, { inode, cookie });
    if (inode instanceof MemoryDirectory) inode.parent = this;
  }

  stat(): Stat {
    const { kind, inode, accessed, modified, changed } = this;
    const links = this.removed ? 0 : 1;
    return { kind, device: 1, inode, links, size: this.children.size, accessed, modified, changed };
  }

  setTimes({ accessed, modified }: NewTimes): void {
    if (accessed !== undefined) this.accessed = accessed;
    if (modified !== undefined) this.modified = modified;
    this.changed = this.storage.now();
  }

  private add(name: string, inode: MemoryInode): void {
    this.storage.addFile();
    if (inode instanceof MemoryDirectory) inode.parent = this;
    else inode.links += 1;
    this.place(name, inode);
  }

  private place(name: string, inode: Inode): void {
    const cookie = this.children.get(name)?.cookie ?? this.nextCookie++;
    this.children.set(name, { inode, cookie });
    this.modified = this.changed = this.storage.now();
  }

  private drop(name: string): void {
    this.children.delete(name);
    this.modified = this.changed = this.storage.now();
  }

  /** Makes room for something that is renamed to a name which is taken; the name itself is then set, not removed. */
  private clear(name: string, replaced: Inode, by: MemoryInode): void {
    this.expectOwn(name);
    if (by instanceof MemoryDirectory) {
      if (!(replaced instanceof MemoryDirectory)) throw new FsError("ENOTDIR");
      if (replaced.children.size > 0) throw new FsError("ENOTEMPTY");
      replaced.removed = true;
      replaced.parent = null;
      this.storage.dropFile();
    } else {
      if (replaced instanceof MemoryDirectory) throw new FsError("EISDIR");
      if (isLinkable(replaced)) replaced.unlink();
    }
  }

  private expectWritable(): void {
    if (!this.writable) throw new FsError("EROFS");
  }

  private expectFree(name: string): void {
    if (this.children.has(name)) throw new FsError("EEXIST");
    this.expectWritable();
    if (this.removed) throw new FsError("ENOENT");
  }

  private expectOwn(name: string): MemoryInode {
    const inode = this.lookup(name);
    if (inode === undefined) throw new FsError("ENOENT");
    this.expectWritable();
    if (inode instanceof MemoryDirectory ? inode.pinned : !isLinkable(inode)) throw new FsError("EBUSY");
    return inode as MemoryInode;
  }

  /** Whether a directory is this one or lies below it. */
  private holds(directory: MemoryDirectory): boolean {
    for (let each: MemoryDirectory | null = directory; each !== null; each = each.parent) {
      if (each === this) return true;
    }
    return false;
  }
}

function isLinkable(inode: Inode): inode is MemoryFile | MemorySymlink {
  return inode instanceof MemoryFile || inode instanceof MemorySymlink;
}

/** Asking a mount for its number may need the disk, and a listing does not need to know it. */
function inodeNumber(inode: Inode): number {
  if (inode instanceof MemoryDirectory || isLinkable(inode)) return inode.inode;
  try {
    return inode.stat().inode;
  } catch {
    return 0;
  }
}
