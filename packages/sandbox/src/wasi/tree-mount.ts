import { copyBytes } from "./copy-bytes.js";
import { FsError, onHost } from "./errno.js";
import type { OpenFile, Stat } from "./inode.js";
import { type DirectoryEntry, type DirectoryInode, FIRST_COOKIE, type FileInode, type Inode } from "./inode.js";
import { listingOf, type ReadOnlyTree, type TreeEntry, type TreeListing } from "./tree.js";

/** A place in a tree that is mounted; a session makes one for each name it looks at, and no more. */
interface Place {
  readonly tree: ReadOnlyTree;
  /** Where the tree is mounted. */
  readonly mount: string;
  /** The number of the mount. */
  readonly device: number;
  /** Relative to the mount; "" is its root. */
  readonly path: string;
  readonly modifiedMs: number;
}

/** A directory of a read-only tree. */
export class TreeDirectory implements DirectoryInode {
  readonly kind = "directory";
  readonly mount: string;
  readonly path: string;
  private readonly place: Place;
  private readonly children = new Map<string, TreeFile | TreeDirectory>();

  constructor(place: Place) {
    this.place = place;
    this.mount = place.mount;
    this.path = place.path;
  }

  lookup(name: string): Inode | undefined {
    const known = this.children.get(name);
    if (known !== undefined) return known;
    const entry = this.listing().byName.get(name);
    if (entry === undefined) return undefined;
    const place = { ...this.place, path: this.pathOf(name), modifiedMs: entry.modifiedMs ?? 0 };
    const inode = entry.kind === "directory" ? new TreeDirectory(place) : new TreeFile(place, entry);
    this.children.set(name, inode);
    return inode;
  }

  count(): number {
    return this.listing().list.length;
  }

  *entriesAfter(cookie: number): Generator<DirectoryEntry> {
    const { list } = this.listing();
    for (let at = Math.max(0, cookie - FIRST_COOKIE + 1); at < list.length; at++) {
      const entry = list[at];
      if (entry === undefined) return;
      const { name, kind } = entry;
      yield { cookie: at + FIRST_COOKIE, name, kind, inode: numberOf(this.pathOf(name)) };
    }
  }

  createFile(): never {
    throw new FsError("EROFS");
  }

  createDirectory(): never {
    throw new FsError("EROFS");
  }

  createSymlink(): never {
    throw new FsError("EROFS");
  }

  link(): never {
    throw new FsError("EROFS");
  }

  removeFile(): never {
    throw new FsError("EROFS");
  }

  removeDirectory(): never {
    throw new FsError("EROFS");
  }

  rename(): never {
    throw new FsError("EROFS");
  }

  stat(): Stat {
    return statOf(this.place, "directory", this.count());
  }

  setTimes(): never {
    throw new FsError("EROFS");
  }

  private listing(): TreeListing {
    return onHost(() => listingOf(this.place.tree, this.path));
  }

  private pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}/${name}`;
  }
}

/** A file of a read-only tree; its bytes are asked for with the first read, and never copied but into the guest. */
export class TreeFile implements FileInode, OpenFile {
  readonly kind = "file";
  readonly writable = false;
  readonly mount: string;
  readonly path: string;
  private readonly place: Place;
  private readonly entry: TreeEntry;
  private bytes: Uint8Array | null = null;

  constructor(place: Place, entry: TreeEntry) {
    this.place = place;
    this.mount = place.mount;
    this.path = place.path;
    this.entry = entry;
  }

  open(write: boolean): this {
    if (write) throw new FsError("EROFS");
    return this;
  }

  close(): void {
    this.bytes = null;
  }

  size(): number {
    return this.entry.size;
  }

  read(position: number, into: Uint8Array, at: number, length: number): number {
    const bytes = this.content();
    const count = Math.min(length, bytes.length - position);
    if (count <= 0) return 0;
    copyBytes(bytes, position, into, at, count);
    return count;
  }

  write(): never {
    throw new FsError("EROFS");
  }

  resize(): never {
    throw new FsError("EROFS");
  }

  sync(): void {}

  stat(): Stat {
    return statOf(this.place, "file", this.entry.size);
  }

  setTimes(): never {
    throw new FsError("EROFS");
  }

  private content(): Uint8Array {
    if (this.bytes === null) {
      const bytes = onHost(() => this.place.tree.read(this.path));
      if (bytes.length !== this.entry.size) throw new FsError("EIO", "the tree gave another size than it said");
      this.bytes = bytes;
    }
    return this.bytes;
  }
}

function statOf({ device, path, modifiedMs }: Place, kind: "file" | "directory", size: number): Stat {
  const times = { accessed: modifiedMs, modified: modifiedMs, changed: modifiedMs };
  return { kind, device, inode: numberOf(path), links: 1, size, ...times };
}

/** A number that depends on the path alone, so that it is the same in every session; two 26-bit hashes side by side. */
function numberOf(path: string): number {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let at = 0; at < path.length; at++) {
    const unit = path.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b) ^ (low >>> 13);
  }
  return (high >>> 6) * 2 ** 26 + (low >>> 6) + 1;
}
