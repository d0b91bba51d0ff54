import type { Inode, Moment } from "./inode.js";
import { MemoryDirectory, type MemoryInode } from "./memory-directory.js";
import { MemoryFile } from "./memory-file.js";
import { MemorySymlink } from "./memory-symlink.js";
import { Storage } from "./storage.js";
import { type Mounts, Vfs, type VfsOptions } from "./vfs.js";

type Times = readonly [accessed: Moment, modified: Moment, changed: Moment];

type SavedInode =
  | {
      readonly kind: "file";
      readonly inode: number;
      readonly links: number;
      readonly times: Times;
      readonly modifiedAt: number;
      readonly bytes: Uint8Array;
    }
  | {
      readonly kind: "symlink";
      readonly inode: number;
      readonly links: number;
      readonly times: Times;
      readonly target: string;
    }
  | {
      readonly kind: "directory";
      readonly inode: number;
      readonly times: Times;
      readonly nextCookie: number;
      readonly removed: boolean;
      readonly pinned: boolean;
      readonly children: readonly SavedChild[];
    };

/** A name, and where its inode stands in the list, or the path of the mount that is there. */
type SavedChild = readonly [name: string, at: number | string, cookie: number];

/** The files of a session as plain data: numbers, texts and bytes, which `v8.serialize` and messages between threads take. */
export interface SavedVfs {
  readonly bytesWritten: number;
  readonly files: number;
  readonly sequence: number;
  readonly nextInode: number;
  /** The root first. */
  readonly inodes: readonly SavedInode[];
  /** The paths of the mounts, in the order in which they were made; what they hold is not saved. */
  readonly mounts: readonly string[];
  readonly touched: readonly (readonly [mount: string, path: string, created: number, modified: number])[];
}

/** Saves the part that the guest can change, and the inodes it has open without a name. Bytes are shared, not copied. */
export function saveVfs(vfs: Vfs, open: Iterable<Inode>): { saved: SavedVfs; places: ReadonlyMap<Inode, number> } {
  const places = new Map<Inode, number>();
  const found: MemoryInode[] = [];
  const visit = (inode: Inode): void => {
    if (!isMemoryInode(inode) || places.has(inode)) return;
    places.set(inode, found.length);
    found.push(inode);
  };
  visit(vfs.root);
  for (const inode of open) visit(inode);
  // The list grows while it is walked, until everything below has been seen.
  for (const inode of found) {
    if (inode instanceof MemoryDirectory) for (const child of inode.children.values()) visit(child.inode);
  }
  const mountPaths = new Map([...vfs.mounted].map(([path, inode]) => [inode, path]));
  const place = (inode: Inode): number | string => places.get(inode) ?? mountPaths.get(inode) ?? "";
  const { bytesWritten, files, sequence, nextInode } = vfs.storage;
  const touched = vfs.realMounts.flatMap(({ mount, touched }) =>
    [...touched].map(([path, { created, modified }]) => [mount, path, created, modified] as const),
  );
  const inodes = found.map((inode) => saveInode(inode, place));
  return {
    saved: { bytesWritten, files, sequence, nextInode, inodes, mounts: [...vfs.mounted.keys()], touched },
    places,
  };
}

/** Makes the files anew from what was saved; the mounts have to be given again, under the same paths. */
export function restoreVfs(saved: SavedVfs, options: VfsOptions): { vfs: Vfs; inodes: readonly MemoryInode[] } {
  const storage = new Storage(options.limits, options.now);
  const { bytesWritten, files, sequence, nextInode } = saved;
  Object.assign(storage, { bytesWritten, files, sequence, nextInode });
  const inodes = saved.inodes.map((each) => restoreInode(each, storage));
  const [root] = inodes;
  if (!(root instanceof MemoryDirectory)) throw new Error("the saved files have no root; they are damaged");
  const vfs = new Vfs({}, { root, storage });
  const mounts = canonicalMounts(options.mounts ?? {});
  for (const path of saved.mounts) {
    const mount = mounts[path];
    if (mount === undefined) throw new Error(`the saved files had a mount at ${path}; give it again to restore them`);
    vfs.mountable(path, mount);
  }
  for (const [index, each] of saved.inodes.entries()) restoreChildren(each, inodes[index], inodes, vfs);
  for (const [mount, path, created, modified] of saved.touched) {
    vfs.realMounts.find((each) => each.mount === mount)?.touched.set(path, { created, modified });
  }
  for (const [path, mount] of Object.entries(mounts)) vfs.mount(path, mount);
  return { vfs, inodes };
}

function saveInode(inode: MemoryInode, place: (inode: Inode) => number | string): SavedInode {
  const times: Times = [inode.accessed, inode.modified, inode.changed];
  if (inode instanceof MemoryFile) {
    const { kind, links, modifiedAt } = inode;
    return { kind, inode: inode.inode, links, times, modifiedAt, bytes: inode.share() };
  }
  if (inode instanceof MemorySymlink) {
    const { kind, links, target } = inode;
    return { kind, inode: inode.inode, links, times, target };
  }
  const { kind, nextCookie, removed, pinned } = inode;
  const children = [...inode.children].map(([name, child]): SavedChild => [name, place(child.inode), child.cookie]);
  return { kind, inode: inode.inode, times, nextCookie, removed, pinned, children };
}

function restoreInode(saved: SavedInode, storage: Storage): MemoryInode {
  const [accessed, modified, changed] = saved.times;
  const inode = emptyInode(saved, storage);
  inode.accessed = accessed;
  inode.modified = modified;
  inode.changed = changed;
  return inode;
}

function emptyInode(saved: SavedInode, storage: Storage): MemoryInode {
  switch (saved.kind) {
    case "file": {
      const file = new MemoryFile(storage, saved.inode);
      file.links = saved.links;
      file.modifiedAt = saved.modifiedAt;
      file.adopt(saved.bytes);
      return file;
    }
    case "symlink": {
      const symlink = new MemorySymlink(storage, saved.inode, saved.target);
      symlink.links = saved.links;
      return symlink;
    }
    default: {
      const directory = new MemoryDirectory(storage, saved.inode);
      directory.nextCookie = saved.nextCookie;
      directory.removed = saved.removed;
      directory.pinned = saved.pinned;
      return directory;
    }
  }
}

function restoreChildren(
  saved: SavedInode,
  inode: MemoryInode | undefined,
  inodes: readonly MemoryInode[],
  vfs: Vfs,
): void {
  if (saved.kind !== "directory" || !(inode instanceof MemoryDirectory)) return;
  for (const [name, at, cookie] of saved.children) {
    const child = typeof at === "number" ? inodes[at] : vfs.mounted.get(at);
    if (child === undefined) throw new Error(`the saved files name ${name}, which is not among them; they are damaged`);
    inode.reattach(name, child, cookie);
  }
}

function canonicalMounts(mounts: Mounts): Mounts {
  const entries = Object.entries(mounts).map(([path, mount]) => [
    `/${path.split("/").filter(Boolean).join("/")}`,
    mount,
  ]);
  return Object.fromEntries(entries);
}

function isMemoryInode(inode: Inode): inode is MemoryInode {
  return inode instanceof MemoryFile || inode instanceof MemoryDirectory || inode instanceof MemorySymlink;
}
