import { MAX_PATH_BYTES } from "./abi.js";
import { commonError, FsError } from "./errno.js";
import type { DirectoryInode, FileInode, Inode } from "./inode.js";
import { type Base, type LastLink, type Resolved, resolve } from "./resolve.js";
import type { Storage } from "./storage.js";

/** What an open asks for, in the sense of POSIX. */
export interface OpenRequest {
  readonly follow: boolean;
  readonly create: boolean;
  readonly exclusive: boolean;
  readonly truncate: boolean;
  readonly directory: boolean;
  readonly write: boolean;
}

/** Finds or makes what is to be opened. A path that may not be written there is noted: not every program says which it was. */
export function openInode(base: Base, path: string, request: OpenRequest, storage: Storage): Inode {
  try {
    return foundOrMade(base, path, request);
  } catch (error) {
    const isReadOnly = error instanceof FsError && error.name === "EROFS";
    if (isReadOnly || (error instanceof FsError && (request.write || request.create))) {
      storage.pathRefused = { path: base.isRoot ? `/${path.replace(/^(?:\.?\/)+/, "")}` : path, isReadOnly };
    }
    throw error;
  }
}

function foundOrMade(base: Base, path: string, request: OpenRequest): Inode {
  if (request.create && path.endsWith("/")) {
    const { name } = resolve(base, path, "name");
    throw new FsError(request.exclusive && isDots(name) ? "EEXIST" : "EISDIR");
  }
  // A name that has to be new is the name itself, even where a link stands.
  const following = request.create ? "create" : "follow";
  const last = request.follow && !(request.create && request.exclusive) ? following : "keep";
  const found = resolve(base, path, last);
  if (found.inode === undefined) return createFile(found, request);
  if (request.create && request.exclusive) throw new FsError("EEXIST");
  return expectOpenable(found.inode, request);
}

function createFile({ directory, name, slash }: Resolved, request: OpenRequest): FileInode {
  if (!request.create || request.directory) throw commonError("ENOENT");
  // A link that is followed may end in a slash as well.
  if (slash) throw new FsError("EISDIR");
  return directory.createFile(name);
}

function expectOpenable(inode: Inode, request: OpenRequest): Inode {
  switch (inode.kind) {
    case "symlink":
      throw new FsError(request.directory ? "ENOTDIR" : "ELOOP");
    case "directory":
      if (!request.directory && (request.write || request.truncate || request.create)) throw new FsError("EISDIR");
      return inode;
    case "file":
      if (request.directory) throw new FsError("ENOTDIR");
      if (!inode.writable && (request.write || request.truncate)) throw new FsError("EROFS");
      return inode;
    default:
      if (request.directory) throw new FsError("ENOTDIR");
      return inode;
  }
}

/** Finds what is there. */
export function findInode(base: Base, path: string, last: LastLink): Inode {
  const { inode } = resolve(base, path, last);
  if (inode === undefined) throw commonError("ENOENT");
  return inode;
}

/** Makes a directory; a slash at the end of its name is fine. */
export function makeDirectory(base: Base, path: string): DirectoryInode {
  const { directory, name, inode } = resolve(base, path, "name");
  if (inode !== undefined) throw new FsError("EEXIST");
  return directory.createDirectory(name);
}

/** Makes a symbolic link; an absolute target is for those alone who hold the root. */
export function makeSymlink(base: Base, target: string, path: string): void {
  if (target === "") throw commonError("ENOENT");
  if (target.includes("\0")) throw new FsError("EINVAL");
  if (Buffer.byteLength(target) > MAX_PATH_BYTES) throw new FsError("ENAMETOOLONG");
  if (target.startsWith("/") && !base.isRoot) throw new FsError("EPERM");
  const { directory, name, inode, slash } = resolve(base, path, "name");
  if (inode !== undefined) throw new FsError("EEXIST");
  if (slash) throw commonError("ENOENT");
  directory.createSymlink(name, target);
}

/** Reads where a symbolic link leads. */
export function readSymlink(base: Base, path: string): string {
  const inode = findInode(base, path, "keep");
  if (inode.kind !== "symlink") throw new FsError("EINVAL", "it is no symbolic link");
  return inode.target;
}

/** Gives a file a second name. */
export function linkFile(base: Base, path: string, newBase: Base, newPath: string): void {
  const source = findInode(base, path, "keep");
  const { directory, name, inode, slash } = resolve(newBase, newPath, "name");
  if (inode !== undefined) throw new FsError("EEXIST");
  if (slash) throw commonError("ENOENT");
  if (source.kind === "directory") throw new FsError("EPERM", "a directory has one name");
  directory.link(name, source);
}

/** Removes a name that is not a directory's. */
export function unlinkFile(base: Base, path: string): void {
  const { directory, name, inode, slash } = resolve(base, path, "name");
  if (inode === undefined) throw commonError("ENOENT");
  if (inode.kind === "directory") throw new FsError("EISDIR");
  if (slash) throw new FsError("ENOTDIR");
  directory.removeFile(name);
}

/** Removes an empty directory. */
export function removeDirectory(base: Base, path: string): void {
  const { directory, name, inode } = resolve(base, path, "name");
  if (name === ".") throw new FsError("EINVAL", "the path ends in a dot");
  if (name === "..") throw new FsError("ENOTEMPTY");
  if (inode === undefined) throw commonError("ENOENT");
  if (inode.kind !== "directory") throw new FsError("ENOTDIR");
  directory.removeDirectory(name);
}

/** Moves a name, over another one if need be. */
export function renameInode(base: Base, path: string, newBase: Base, newPath: string): void {
  const from = resolve(base, path, "name");
  const to = resolve(newBase, newPath, "name");
  if (isDots(from.name) || isDots(to.name)) throw new FsError("EBUSY", "the path ends in dots");
  if (from.inode === undefined) throw commonError("ENOENT");
  if (from.inode.kind !== "directory" && (from.slash || to.slash)) throw new FsError("ENOTDIR");
  if (from.inode === to.inode) return;
  from.directory.rename(from.name, to.directory, to.name);
}

function isDots(name: string): boolean {
  return name === "." || name === "..";
}
