import { FsError } from "../wasi/errno.js";
import type { Inode, OpenFile } from "../wasi/inode.js";
import { milliseconds } from "../wasi/moment.js";
import { findInode, type OpenRequest, openInode } from "../wasi/operations.js";
import type { Base } from "../wasi/resolve.js";
import type { Vfs } from "../wasi/vfs.js";

/** More than a guest could take at once. */
const LARGEST_READ = 64 * 1024 * 1024;
const MOST_LINKS = 40;
const MOST_COMPONENTS = 1000;
const WRITES = 1;
const TRUNCATES = 2;

const PLAIN: OpenRequest = {
  follow: true,
  create: false,
  exclusive: false,
  truncate: false,
  directory: false,
  write: false,
};

/** What a question about files can bring along. */
export type FileArgument = string | number | Uint8Array | null;

/** An answer about files: text, a number, or bytes; below zero it is the number of an error. */
export type FileAnswer = string | number | Uint8Array;

/**
 * A session's files, as the guest's `std` and `os` modules ask for them. No file stays open on this side: every question names
 * its file, so a guest that is restored elsewhere finds its open files as it left them.
 */
export class GuestFiles {
  private readonly vfs: Vfs;
  private readonly base: Base;

  constructor(vfs: Vfs) {
    this.vfs = vfs;
    this.base = { directory: vfs.root, isRoot: true };
  }

  /** Answers a question; what cannot be is a number below zero, as in C. */
  answer(operation: string, path: string, first: FileArgument, second: FileArgument): FileAnswer {
    try {
      return this.carryOut(operation, path, first, second);
    } catch (error) {
      if (error instanceof FsError) return -error.errno;
      throw error;
    }
  }

  /** A whole file, for a module's source; null when there is none. */
  source(path: string, mostBytes: number): Uint8Array | null {
    try {
      const inode = this.find(path, true);
      if (inode.kind !== "file" || inode.stat().size > mostBytes) return null;
      return this.vfs.readFile(path);
    } catch (error) {
      if (error instanceof FsError) return null;
      throw error;
    }
  }

  isFile(path: string): boolean {
    try {
      return this.find(path, true).kind === "file";
    } catch (error) {
      if (error instanceof FsError) return false;
      throw error;
    }
  }

  private carryOut(operation: string, path: string, first: FileArgument, second: FileArgument): FileAnswer {
    switch (operation) {
      case "stat":
        return this.describe(path, true);
      case "lstat":
        return this.describe(path, false);
      case "size":
        return this.sizeOf(path);
      case "list":
        return JSON.stringify([".", "..", ...this.vfs.list(path).map(({ name }) => name)]);
      case "readlink":
        return this.vfs.readlink(path);
      case "realpath":
        return this.realpath(path);
      case "open":
        return this.open(path, text(first), whole(second));
      case "read":
        return this.read(path, whole(first), whole(second));
      case "write":
        return this.write(path, whole(first), bytes(second));
      default:
        this.change(operation, path, first);
        return 0;
    }
  }

  private change(operation: string, path: string, first: FileArgument): void {
    if (operation === "mkdir") this.vfs.mkdir(path);
    else if (operation === "remove") this.vfs.remove(path);
    else if (operation === "rename") this.vfs.rename(path, text(first));
    else if (operation === "symlink") this.vfs.symlink(text(first), path);
    else throw new FsError("ENOSYS", operation);
  }

  private describe(path: string, follow: boolean): string {
    const { accessed, modified, changed, ...rest } = this.find(path, follow).stat();
    const times = { accessed, modified, changed };
    const shown = Object.entries(times).map(([name, moment]) => [name, Math.floor(milliseconds(moment))]);
    return JSON.stringify({ ...rest, ...Object.fromEntries(shown) });
  }

  private sizeOf(path: string): number {
    const inode = this.find(path, true);
    if (inode.kind === "directory") throw new FsError("EISDIR");
    return inode.stat().size;
  }

  private open(path: string, how: string, flags: number): number {
    const write = (flags & WRITES) !== 0;
    const create = how !== "existing";
    const inode = this.openable(path, { ...PLAIN, create, exclusive: how === "new", write });
    if ((flags & TRUNCATES) === 0 || !write) return 0;
    return using(inode, true, (file) => {
      file.resize(0);
      return 0;
    });
  }

  private read(path: string, position: number, length: number): Uint8Array {
    if (length > LARGEST_READ) throw new FsError("EINVAL", "too much at once");
    return using(this.openable(path, PLAIN), false, (file) => {
      const into = new Uint8Array(Math.max(0, Math.min(length, file.size() - position)));
      return into.subarray(0, file.read(position, into, 0, into.length));
    });
  }

  private write(path: string, position: number, from: Uint8Array): number {
    return using(this.openable(path, { ...PLAIN, write: true }), true, (file) => {
      file.write(position, from, 0, from.length);
      return from.length;
    });
  }

  private openable(path: string, request: OpenRequest): Inode {
    return openInode(this.base, relative(path), request, this.vfs.storage);
  }

  private find(path: string, follow: boolean): Inode {
    return findInode(this.base, relative(path), follow ? "follow" : "keep");
  }

  /** The path without dots and links. */
  private realpath(path: string): string {
    const waiting = path.split("/").reverse();
    const walked: string[] = [];
    let links = 0;
    for (let steps = 0; waiting.length > 0; steps++) {
      if (steps > MOST_COMPONENTS) throw new FsError("ENAMETOOLONG");
      const name = waiting.pop() ?? "";
      if (name === "" || name === ".") continue;
      if (name === "..") {
        walked.pop();
        continue;
      }
      const next = `/${[...walked, name].join("/")}`;
      if (this.find(next, false).kind !== "symlink") {
        walked.push(name);
        continue;
      }
      links += 1;
      if (links > MOST_LINKS) throw new FsError("ELOOP");
      const target = this.vfs.readlink(next);
      if (target.startsWith("/")) walked.length = 0;
      waiting.push(...target.split("/").reverse());
    }
    return `/${walked.join("/")}`;
  }
}

function using<T>(inode: Inode, write: boolean, work: (file: OpenFile) => T): T {
  if (inode.kind === "directory") throw new FsError("EISDIR");
  if (inode.kind !== "file") throw new FsError("EACCES", "it is no file");
  const file = inode.open(write);
  try {
    return work(file);
  } finally {
    file.close();
  }
}

function relative(path: string): string {
  return `.${path.startsWith("/") ? "" : "/"}${path}`;
}

function text(value: FileArgument): string {
  if (typeof value === "string") return value;
  throw new FsError("EINVAL");
}

function whole(value: FileArgument): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new FsError("EINVAL");
}

function bytes(value: FileArgument): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new FsError("EINVAL");
}
