import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { join, sep } from "node:path";
import { FsError, fromHostError } from "./errno.js";
import type { Stat } from "./inode.js";
import type { Storage } from "./storage.js";

// A link in the last place is not followed, and a pipe that somebody put there does not block.
const SAFE_FLAGS = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** When a path below the mount was made or written to, in the storage's count. */
export interface Touch {
  created: number;
  modified: number;
}

/**
 * A directory of the host that is opened to a guest. A path is a list of names; before each use all of them are looked
 * at, and a symbolic link anywhere refuses the call. A file is opened without following links, and what was opened is
 * compared with what was looked at, so that a link swapped in between is noticed.
 */
export class RealMount {
  /** Where it is mounted. */
  readonly mount: string;
  readonly device: number;
  readonly writable: boolean;
  readonly storage: Storage;
  readonly touched: Map<string, Touch> = new Map();
  private readonly root: string;
  private readonly identity: string;

  constructor(options: { mount: string; device: number; path: string; writable: boolean; storage: Storage }) {
    this.mount = options.mount;
    this.device = options.device;
    this.writable = options.writable;
    this.storage = options.storage;
    this.root = realpathSync(options.path);
    const stats = lstatSync(this.root, { bigint: true });
    if (!stats.isDirectory()) throw new FsError("ENOTDIR", options.path);
    this.identity = identityOf(stats);
  }

  /** The path on the host of a name whose parents have been looked at. */
  locate(names: readonly string[]): string {
    let path = this.root;
    const root = lstatSync(path, { bigint: true });
    if (!root.isDirectory() || identityOf(root) !== this.identity) throw new FsError("ESTALE", this.mount);
    for (const [index, name] of names.entries()) {
      path = join(path, expectName(name));
      if (index < names.length - 1 && !lstatSync(path).isDirectory()) throw new FsError("EPERM");
    }
    return path;
  }

  /** What stands at a path; links, pipes, sockets and devices of the host are refused. */
  look(names: readonly string[]): BigIntStats | undefined {
    try {
      const stats = lstatSync(this.locate(names), { bigint: true });
      if (!stats.isFile() && !stats.isDirectory()) throw new FsError("EPERM", "it is neither a file nor a directory");
      return stats;
    } catch (error) {
      const known = fromHostError(error);
      if (known.name === "ENOENT") return undefined;
      throw known;
    }
  }

  /** Opens a file, and closes it again if it is not the one that was meant. */
  open(names: readonly string[], flags: number): number {
    const path = this.locate(names);
    const create = (flags & constants.O_CREAT) !== 0;
    const meant = create ? undefined : this.look(names);
    if (!create && meant === undefined) throw new FsError("ENOENT");
    const fd = openSync(path, flags | SAFE_FLAGS, 0o644);
    try {
      const stats = fstatSync(fd, { bigint: true });
      const now = this.look(names);
      const same = now !== undefined && identityOf(now) === identityOf(stats);
      if (!stats.isFile() || !same || (meant !== undefined && identityOf(meant) !== identityOf(stats))) {
        throw new FsError("EPERM", "it changed while it was opened");
      }
      if (!leadsTo(fd, path)) throw new FsError("EPERM", "it was opened elsewhere");
      return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  expectWritable(): void {
    if (!this.writable) throw new FsError("EROFS");
  }

  created(names: readonly string[]): void {
    const { sequence } = this.storage;
    this.touched.set(names.join("/"), { created: sequence, modified: sequence });
  }

  modified(names: readonly string[]): void {
    const path = names.join("/");
    const touch = this.touched.get(path);
    if (touch === undefined) this.touched.set(path, { created: 0, modified: this.storage.sequence });
    else touch.modified = this.storage.sequence;
  }

  /** Forgets a path that is gone, and everything below it. */
  forget(names: readonly string[]): void {
    const path = names.join("/");
    for (const each of this.touched.keys()) {
      if (each === path || each.startsWith(`${path}/`)) this.touched.delete(each);
    }
  }
}

/** The stat of a host's file, as the guest sees it. */
export function realStat(stats: BigIntStats, device: number): Stat {
  return {
    kind: stats.isDirectory() ? "directory" : "file",
    device,
    inode: Number(BigInt.asUintN(53, stats.ino)),
    links: Number(stats.nlink),
    size: Number(stats.size),
    accessed: stats.atimeNs,
    modified: stats.mtimeNs,
    changed: stats.ctimeNs,
  };
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/** Names are checked by whoever resolves a path; here it is the last door, so they are checked again. */
function expectName(name: string): string {
  const separated = name.includes("/") || name.includes(sep) || name.includes("\0");
  if (name === "" || name === "." || name === ".." || separated) throw new FsError("EINVAL");
  return name;
}

/** Linux knows which path a descriptor leads to; elsewhere, or where that is not allowed to be read, it is not asked. */
function leadsTo(fd: number, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return true;
  }
}
