import { type Changes, changesSince, type Mark, markOf } from "./changes.js";
import type { Device } from "./device.js";
import { DeviceNode, streamOf } from "./device.js";
import { aboutPath, FsError } from "./errno.js";
import type { DirectoryInode, Inode, InodeKind, Moment, OpenFile } from "./inode.js";
import { MemoryDirectory } from "./memory-directory.js";
import { MemoryFile } from "./memory-file.js";
import { milliseconds } from "./moment.js";
import {
  findInode,
  linkFile,
  makeDirectory,
  makeSymlink,
  openInode,
  readSymlink,
  removeDirectory,
  renameInode,
  unlinkFile,
} from "./operations.js";
import { RealDirectory } from "./real-directory.js";
import { RealMount } from "./real-mount.js";
import type { Base } from "./resolve.js";
import { Storage, type StorageLimits } from "./storage.js";
import type { ReadOnlyTree } from "./tree.js";
import { TreeDirectory } from "./tree-mount.js";

/** Something from outside that a session finds in its tree: shared files, a directory of the host, or a device. */
export type Mount =
  | { readonly kind: "tree"; readonly tree: ReadOnlyTree }
  | { readonly kind: "directory"; readonly path: string; readonly writable?: boolean }
  | { readonly kind: "device"; readonly device: Device };

/** Mounts by the absolute path where they are found. */
export type Mounts = Readonly<Record<string, Mount>>;

export interface VfsOptions {
  readonly limits?: Partial<StorageLimits>;
  readonly mounts?: Mounts;
  /** The clock for the times of files; the host's own when left out. */
  readonly now?: () => Moment;
}

/** One name in a directory. */
export interface Entry {
  readonly name: string;
  readonly kind: InodeKind;
  readonly size: number;
}

export interface FileInfo extends Omit<Entry, "name"> {
  readonly links: number;
  readonly modifiedMs: number;
}

const READ_ONLY = { follow: true, create: false, exclusive: false, truncate: false, directory: false, write: false };
const REPLACE = { follow: true, create: true, exclusive: false, truncate: false, directory: false, write: true };

/**
 * The files of a session: a tree in memory with mounts in it. Paths start at its root, with or without a slash; nothing
 * leads out of it. Failures are `FsError`s.
 */
export class Vfs {
  readonly root: MemoryDirectory;
  readonly storage: Storage;
  readonly realMounts: RealMount[] = [];
  /** What is mounted, by path. */
  readonly mounted: Map<string, Inode> = new Map();
  private readonly base: Base;

  constructor(options: VfsOptions = {}, root?: { readonly root: MemoryDirectory; readonly storage: Storage }) {
    this.storage = root?.storage ?? new Storage(options.limits, options.now);
    this.root = root?.root ?? new MemoryDirectory(this.storage, this.storage.inode());
    this.base = { directory: this.root, isRoot: true };
    for (const [path, mount] of Object.entries(options.mounts ?? {})) this.mount(path, mount);
  }

  /** All bytes written so far, by the guest and through these methods. */
  get bytesWritten(): number {
    return this.storage.bytesWritten;
  }

  /** Moves the limits; they hold for what has been written in all. */
  limit(limits: Partial<StorageLimits>): void {
    this.storage.limits = { ...this.storage.limits, ...limits };
  }

  /** Puts a mount into the tree, and makes the directories that lead to it; one that is there already stays. */
  mount(path: string, mount: Mount): void {
    const names = path.split("/").filter((name) => name !== "");
    const name = names.pop();
    if (name === undefined) throw new FsError("EINVAL", "the root itself cannot be a mount; mount below it");
    if (this.mounted.has(canonical(path))) return;
    const parent = this.makeAll(names);
    if (!(parent instanceof MemoryDirectory)) throw new FsError("EBUSY", `${path} lies on another mount`);
    parent.attach(name, this.mountable(canonical(path), mount));
  }

  /** Makes everything in memory read-only, but for these folders and what lies below them. Mounts keep their own rights. */
  confineWrites(folders: readonly string[]): void {
    const writable = new Set(folders.map((path) => this.directory(path)));
    const confine = (directory: MemoryDirectory): void => {
      if (writable.has(directory)) return;
      directory.writable = false;
      for (const { inode } of directory.children.values()) {
        if (inode instanceof MemoryDirectory) confine(inode);
        else if (inode instanceof MemoryFile) inode.writable = false;
      }
    };
    confine(this.root);
  }

  /** Makes what stands at a mount's place, and remembers it. */
  mountable(path: string, mount: Mount): Inode {
    const device = this.mounted.size + 2;
    const inode = this.makeMount(path, mount, device);
    this.mounted.set(path, inode);
    return inode;
  }

  readFile(path: string): Uint8Array {
    return this.named(path, () => {
      const file = this.open(path, READ_ONLY);
      try {
        const bytes = new Uint8Array(file.size());
        const count = file.read(0, bytes, 0, bytes.length);
        return bytes.subarray(0, count);
      } finally {
        file.close();
      }
    });
  }

  /** Writes a file as a whole, and makes it if need be. */
  writeFile(path: string, bytes: Uint8Array): void {
    this.named(path, () => {
      this.storage.expectRoom(bytes.length);
      const file = this.open(path, REPLACE);
      try {
        file.resize(0);
        file.write(0, bytes, 0, bytes.length);
      } finally {
        file.close();
      }
    });
  }

  list(path: string): Entry[] {
    return this.named(path, () => {
      const directory = this.find(path);
      if (directory.kind !== "directory") throw new FsError("ENOTDIR");
      return [...iterate(directory)].flatMap(({ name }) => {
        const inode = directory.lookup(name);
        return inode === undefined ? [] : [{ name, kind: inode.kind, size: inode.stat().size }];
      });
    });
  }

  /** Follows symbolic links unless told otherwise. */
  stat(path: string, { follow = true }: { readonly follow?: boolean } = {}): FileInfo {
    return this.named(path, () => {
      const { kind, size, links, modified } = findInode(this.base, relative(path), follow ? "follow" : "keep").stat();
      return { kind, size, links, modifiedMs: milliseconds(modified) };
    });
  }

  exists(path: string): boolean {
    try {
      this.find(path);
      return true;
    } catch (error) {
      if (error instanceof FsError) return false;
      throw error;
    }
  }

  mkdir(path: string, { recursive = false }: { readonly recursive?: boolean } = {}): void {
    this.named(path, () => {
      if (!recursive) makeDirectory(this.base, relative(path));
      else this.makeAll(path.split("/").filter((name) => name !== ""));
    });
  }

  /** Removes a file, a link or an empty directory; with `recursive`, what the directory holds as well. */
  remove(path: string, { recursive = false }: { readonly recursive?: boolean } = {}): void {
    this.named(path, () => {
      const inode = findInode(this.base, relative(path), "keep");
      if (inode.kind !== "directory") return unlinkFile(this.base, relative(path));
      if (recursive) clear(inode);
      removeDirectory(this.base, relative(path));
    });
  }

  rename(from: string, to: string): void {
    this.named(`${from} to ${to}`, () => renameInode(this.base, relative(from), this.base, relative(to)));
  }

  symlink(target: string, path: string): void {
    this.named(path, () => makeSymlink(this.base, target, relative(path)));
  }

  link(path: string, newPath: string): void {
    this.named(`${path} to ${newPath}`, () => linkFile(this.base, relative(path), this.base, relative(newPath)));
  }

  readlink(path: string): string {
    return this.named(path, () => readSymlink(this.base, relative(path)));
  }

  /** The directory at a path, for a descriptor to start from. */
  directory(path: string): DirectoryInode {
    return this.named(path, () => {
      const inode = this.find(path);
      if (inode.kind !== "directory") throw new FsError("ENOTDIR");
      return inode;
    });
  }

  /** Remembers which files there are, to be compared with later. */
  mark(): Mark {
    return markOf(this.root, this.storage.sequence);
  }

  /** Which files were made, written to or removed since a mark, by path, in order. */
  changes(since: Mark): Changes {
    return changesSince(this.root, this.realMounts, since);
  }

  private makeMount(path: string, mount: Mount, device: number): Inode {
    switch (mount.kind) {
      case "tree":
        return new TreeDirectory({ tree: mount.tree, mount: path, device, path: "", modifiedMs: 0 });
      case "device":
        return new DeviceNode(streamOf(mount.device), path, device);
      default: {
        const writable = mount.writable ?? false;
        const source = new RealMount({ mount: path, device, path: mount.path, writable, storage: this.storage });
        this.realMounts.push(source);
        return new RealDirectory(source, []);
      }
    }
  }

  private makeAll(names: readonly string[]): DirectoryInode {
    let directory: DirectoryInode = this.root;
    let path = ".";
    for (const name of names) {
      path = `${path}/${name}`;
      const found: DirectoryInode = this.enter(path);
      directory = found;
    }
    return directory;
  }

  private enter(path: string): DirectoryInode {
    try {
      return makeDirectory(this.base, path);
    } catch (error) {
      if (!(error instanceof FsError && error.name === "EEXIST")) throw error;
    }
    const inode = findInode(this.base, path, "follow");
    if (inode.kind !== "directory") throw new FsError("ENOTDIR");
    return inode;
  }

  private open(path: string, request: typeof READ_ONLY): OpenFile {
    const inode = openInode(this.base, relative(path), request, this.storage);
    if (inode.kind === "directory") throw new FsError("EISDIR");
    if (inode.kind !== "file") throw new FsError("EACCES", "it is no file");
    return inode.open(request.write);
  }

  private find(path: string): Inode {
    return findInode(this.base, relative(path), "follow");
  }

  private named<T>(path: string, call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw aboutPath(error, path);
    }
  }
}

/** A path as the resolver takes it: from the root, without its slash. A text that UTF-8 cannot write names nothing. */
function relative(path: string): string {
  if (/\p{Surrogate}/u.test(path)) throw new FsError("EILSEQ");
  return path.startsWith("/") ? `.${path}` : path;
}

function canonical(path: string): string {
  return `/${path
    .split("/")
    .filter((name) => name !== "")
    .join("/")}`;
}

function* iterate(directory: DirectoryInode): Generator<{ readonly name: string }> {
  const entries = directory.entriesAfter(0);
  for (let next = entries.next(); next.done !== true; next = entries.next()) yield next.value;
}

/** Empties a directory from the bottom up, without recursion, because a guest decides how deep it is. */
function clear(top: DirectoryInode): void {
  const stack: { directory: DirectoryInode; parent: DirectoryInode | null; name: string }[] = [
    { directory: top, parent: null, name: "" },
  ];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const { directory, parent, name } = level;
    let below = false;
    for (const entry of [...iterate(directory)]) {
      const inode = directory.lookup(entry.name);
      if (inode?.kind === "directory") {
        stack.push({ directory: inode, parent: directory, name: entry.name });
        below = true;
      } else if (inode !== undefined) {
        directory.removeFile(entry.name);
      }
    }
    if (below) continue;
    stack.pop();
    parent?.removeDirectory(name);
  }
}
