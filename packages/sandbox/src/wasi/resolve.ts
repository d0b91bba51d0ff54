import { MAX_NAME_BYTES, MAX_PATH_BYTES } from "./abi.js";
import { commonError, FsError } from "./errno.js";
import type { DirectoryInode, Inode } from "./inode.js";

/** Where a path starts, and what it cannot leave. */
export interface Base {
  readonly directory: DirectoryInode;
  /** Whether it is the root of everything the guest has; only then a link may name an absolute path. */
  readonly isRoot: boolean;
}

/**
 * What to do with a symbolic link in the last place: follow it; follow it to a file that may have to be made, which no name with a
 * slash behind it can be; take the link itself, unless a slash behind it asks for the directory it leads to; or take the name,
 * whatever stands there and whether or not a slash follows.
 */
export type LastLink = "follow" | "create" | "keep" | "name";

export interface Resolved {
  /** The directory that holds the name. */
  readonly directory: DirectoryInode;
  /** The last name; "." or ".." when the path ends so, which is no entry that could be removed. */
  readonly name: string;
  readonly inode: Inode | undefined;
  /** Whether a slash at the end asks for a directory. */
  readonly slash: boolean;
}

const MAX_HOPS = 40;
const MAX_COMPONENTS = 4096;

/**
 * Looks a path up, component by component, and never above the base: two dots there, and absolute paths, are refused
 * before anything is looked at. Links are followed by walking their target the same way.
 */
export function resolve(base: Base, path: string, last: LastLink): Resolved {
  return new Walk(base, last).to(path);
}

class Walk {
  private readonly base: Base;
  private readonly last: LastLink;
  /** The directories from the base to where the walk is. */
  private readonly trail: DirectoryInode[];
  /** What is left to walk, the next component at the end. */
  private readonly pending: string[] = [];
  private hops = 0;
  private walked = 0;
  private slash = false;
  /** The component walked last. */
  private dots = ".";

  constructor(base: Base, last: LastLink) {
    this.base = base;
    this.last = last;
    this.trail = [base.directory];
  }

  to(path: string): Resolved {
    this.queue(path);
    for (let name = this.pending.pop(); name !== undefined; name = this.pending.pop()) {
      const found = this.step(name);
      if (found !== null) return found;
    }
    const directory = this.here();
    return { directory, name: this.dots, inode: directory, slash: true };
  }

  /** Takes one step; gives the result when it was the last. */
  private step(name: string): Resolved | null {
    this.dots = name;
    if (name === ".") return null;
    if (name === "..") {
      if (this.trail.length === 1) throw new FsError("EPERM");
      this.trail.pop();
      return null;
    }
    const directory = this.here();
    const isLast = this.pending.length === 0;
    // Before it is looked up, so that a link which leads to itself is none that is followed for ever.
    if (isLast && this.slash && this.last === "create") throw new FsError("EISDIR");
    const inode = directory.lookup(name);
    if (inode?.kind === "symlink" && this.follows(isLast)) {
      this.hop(inode.target, isLast);
      return null;
    }
    if (isLast) {
      if (this.slash && this.last !== "name" && isNoDirectory(inode)) throw new FsError("ENOTDIR");
      return { directory, name, inode, slash: this.slash };
    }
    if (inode === undefined) throw commonError("ENOENT");
    if (inode.kind !== "directory") throw new FsError("ENOTDIR");
    this.trail.push(inode);
    return null;
  }

  private follows(isLast: boolean): boolean {
    return !isLast || this.last === "follow" || this.last === "create" || (this.last === "keep" && this.slash);
  }

  private hop(target: string, isLast: boolean): void {
    this.hops += 1;
    if (this.hops > MAX_HOPS) throw new FsError("ELOOP");
    if (target.startsWith("/")) {
      if (!this.base.isRoot) throw new FsError("EPERM");
      this.trail.length = 1;
    }
    const slash = this.slash;
    this.queue(target.startsWith("/") ? target.replace(/^\/+/, "./") : target);
    this.slash = isLast ? slash || this.slash : slash;
  }

  /** Puts the components of a path before what is left to walk. */
  private queue(path: string): void {
    checkPath(path);
    const components = path.split("/");
    this.slash = path.endsWith("/");
    for (let at = components.length - 1; at >= 0; at--) {
      const name = components[at];
      if (name === undefined || name === "") continue;
      checkName(name);
      this.pending.push(name);
    }
    this.walked += components.length;
    if (this.walked > MAX_COMPONENTS) throw new FsError("ELOOP");
  }

  private here(): DirectoryInode {
    return this.trail.at(-1) ?? this.base.directory;
  }
}

function isNoDirectory(inode: Inode | undefined): boolean {
  return inode !== undefined && inode.kind !== "directory";
}

function checkPath(path: string): void {
  if (path === "") throw commonError("ENOENT");
  if (path.includes("\0")) throw new FsError("EINVAL", "a path holds no NUL");
  if (path.startsWith("/")) throw new FsError("EPERM");
  if (path.length > MAX_PATH_BYTES) throw new FsError("ENAMETOOLONG");
}

function checkName(name: string): void {
  // A unit of a string is at most three bytes, so most names need not be encoded to be measured.
  if (name.length * 3 <= MAX_NAME_BYTES) return;
  if (name.length > MAX_NAME_BYTES || Buffer.byteLength(name) > MAX_NAME_BYTES) throw new FsError("ENAMETOOLONG");
}
