import { engine, type WasmMemory } from "@bursar/wasm-fuel";
import { type ErrnoName, FsError, wasiErrno } from "../../src/wasi/errno.js";
import type { RestoreOptions, WasiHostOptions } from "../../src/wasi/host-options.js";
import { ALL_RIGHTS } from "../../src/wasi/rights.js";
import type { SavedHost } from "../../src/wasi/saved-host.js";
import { Vfs } from "../../src/wasi/vfs.js";
import { WasiHost } from "../../src/wasi/wasi-host.js";

const NAMES: readonly ErrnoName[] = [
  ...([
    "EACCES",
    "EAGAIN",
    "EBADF",
    "EBUSY",
    "EEXIST",
    "EFAULT",
    "EFBIG",
    "EILSEQ",
    "EINVAL",
    "EIO",
    "EISDIR",
  ] as const),
  ...(["ELOOP", "EMFILE", "EMLINK", "ENAMETOOLONG", "ENOENT", "ENOMEM", "ENOSPC", "ENOSYS", "ENOTDIR"] as const),
  ...(["ENOTEMPTY", "ENOTSOCK", "ENOTSUP", "EOVERFLOW", "EPERM", "EROFS", "ESPIPE", "ESTALE", "EXDEV"] as const),
  ...(["ENOTCAPABLE", "E2BIG"] as const),
];
const BY_NUMBER = new Map<number, ErrnoName>(NAMES.map((name) => [wasiErrno(name), name]));

/** What a call answers: that it went well, or why not. */
export type Answer = "ok" | ErrnoName;

/** Where the helper keeps things in the guest's memory. */
const OUT = 64;
const VECTORS = 1024;
const FIRST_TEXT = 16 * 1024;
const SECOND_TEXT = 32 * 1024;
const DATA = 64 * 1024;

export const O = { create: 1, directory: 2, exclusive: 4, truncate: 8 } as const;
export const APPEND = 1;
/** The descriptor of the first directory that is opened to the guest. */
export const ROOT = 3;

export interface OpenOptions {
  readonly fd?: number;
  readonly follow?: boolean;
  readonly flags?: number;
  readonly rights?: number;
  readonly inheriting?: number;
  readonly fdFlags?: number;
}

export interface GuestStat {
  readonly device: bigint;
  readonly inode: bigint;
  readonly type: number;
  readonly links: bigint;
  readonly size: bigint;
  readonly accessed: bigint;
  readonly modified: bigint;
  readonly changed: bigint;
}

export interface GuestEntry {
  readonly name: string;
  readonly type: number;
  readonly inode: bigint;
  readonly next: bigint;
}

/** A guest that is driven by hand: it lays out its memory and calls its imports, as compiled code would. */
export class Guest {
  readonly memory: WasmMemory = new engine.Memory({ initial: 4 });
  readonly host: WasiHost;

  constructor(host: WasiHost) {
    this.host = host;
    host.bind(this.memory);
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.memory.buffer);
  }

  get view(): DataView {
    return new DataView(this.memory.buffer);
  }

  /** Calls an import with plain numbers. */
  call(name: string, ...args: readonly (number | bigint)[]): Answer {
    const imported = this.host.imports[name] as unknown as (...values: readonly (number | bigint)[]) => number;
    const errno = imported(...args);
    return errno === 0 ? "ok" : (BY_NUMBER.get(errno) ?? answerUnknown(errno));
  }

  open(path: string | Uint8Array, options: OpenOptions = {}): number | ErrnoName {
    const { fd = ROOT, follow = true, flags = 0, rights = ALL_RIGHTS, inheriting = ALL_RIGHTS, fdFlags = 0 } = options;
    const text = this.text(path);
    const grants = [BigInt(rights), BigInt(inheriting)] as const;
    const answer = this.call("path_open", fd, follow ? 1 : 0, ...text, flags, ...grants, fdFlags, OUT);
    return answer === "ok" ? this.view.getUint32(OUT, true) : answer;
  }

  /** Opens a path that must open. */
  mustOpen(path: string, options: OpenOptions = {}): number {
    const fd = this.open(path, options);
    if (typeof fd === "string") throw new Error(`open(${path}) answered ${fd}`);
    return fd;
  }

  /** Makes a file with this content. */
  file(path: string, content = ""): void {
    const fd = this.mustOpen(path, { flags: O.create | O.truncate });
    this.write(fd, content);
    this.call("fd_close", fd);
  }

  write(fd: number, ...chunks: readonly (string | Uint8Array)[]): number | ErrnoName {
    const answer = this.call("fd_write", fd, ...this.vectors(chunks), OUT);
    return answer === "ok" ? this.view.getUint32(OUT, true) : answer;
  }

  writeAt(fd: number, position: bigint, ...chunks: readonly string[]): number | ErrnoName {
    const answer = this.call("fd_pwrite", fd, ...this.vectors(chunks), position, OUT);
    return answer === "ok" ? this.view.getUint32(OUT, true) : answer;
  }

  read(fd: number, ...lengths: readonly number[]): string {
    const room = lengths.map((length) => new Uint8Array(length));
    return this.received(this.call("fd_read", fd, ...this.vectors(room), OUT));
  }

  readAt(fd: number, position: bigint, ...lengths: readonly number[]): string {
    const room = lengths.map((length) => new Uint8Array(length));
    return this.received(this.call("fd_pread", fd, ...this.vectors(room), position, OUT));
  }

  seek(fd: number, offset: bigint, whence: "set" | "current" | "end"): bigint | ErrnoName {
    const answer = this.call("fd_seek", fd, offset, ["set", "current", "end"].indexOf(whence), OUT);
    return answer === "ok" ? this.view.getBigUint64(OUT, true) : answer;
  }

  tell(fd: number): bigint | ErrnoName {
    const answer = this.call("fd_tell", fd, OUT);
    return answer === "ok" ? this.view.getBigUint64(OUT, true) : answer;
  }

  /** The calls that take one path, a descriptor before it. */
  path(name: "path_create_directory" | "path_remove_directory" | "path_unlink_file", path: string, fd = ROOT): Answer {
    return this.call(name, fd, ...this.text(path));
  }

  rename(from: string, to: string, fd = ROOT, newFd = fd): Answer {
    return this.call("path_rename", fd, ...this.text(from), newFd, ...this.text(to, SECOND_TEXT));
  }

  link(from: string, to: string, { newFd = ROOT, lookup = 0 } = {}): Answer {
    return this.call("path_link", ROOT, lookup, ...this.text(from), newFd, ...this.text(to, SECOND_TEXT));
  }

  symlink(target: string, path: string, fd = ROOT): Answer {
    return this.call("path_symlink", ...this.text(target), fd, ...this.text(path, SECOND_TEXT));
  }

  readlink(path: string, size = 4096, fd = ROOT): string {
    const answer = this.call("path_readlink", fd, ...this.text(path), DATA, size, OUT);
    return answer === "ok" ? this.slice(DATA, this.view.getUint32(OUT, true)) : answer;
  }

  stat(
    target: string | number,
    { follow = true, fd = ROOT }: { follow?: boolean; fd?: number } = {},
  ): GuestStat | ErrnoName {
    const answer =
      typeof target === "number"
        ? this.call("fd_filestat_get", target, OUT)
        : this.call("path_filestat_get", fd, follow ? 1 : 0, ...this.text(target), OUT);
    if (answer !== "ok") return answer;
    const { view } = this;
    const [device, inode, links, size] = [0, 8, 24, 32].map((at) => view.getBigUint64(OUT + at, true)) as Four;
    const [accessed, modified, changed] = [40, 48, 56].map((at) => view.getBigUint64(OUT + at, true)) as Three;
    return { device, inode, type: view.getUint8(OUT + 16), links, size, accessed, modified, changed };
  }

  mustStat(target: string | number, options: { follow?: boolean; fd?: number } = {}): GuestStat {
    const stat = this.stat(target, options);
    if (typeof stat === "string") throw new Error(`stat(${target}) answered ${stat}`);
    return stat;
  }

  fdstat(fd: number): { type: number; flags: number; rights: number; inheriting: number } | ErrnoName {
    const answer = this.call("fd_fdstat_get", fd, OUT);
    if (answer !== "ok") return answer;
    const { view } = this;
    const [rights, inheriting] = [8, 16].map((at) => Number(view.getBigUint64(OUT + at, true))) as [number, number];
    return { type: view.getUint8(OUT), flags: view.getUint16(OUT + 2, true), rights, inheriting };
  }

  /** One call of fd_readdir: the entries that came as a whole, and how many bytes were used. */
  readdir(fd: number, cookie = 0n, size = 4096): { entries: GuestEntry[]; used: number } | ErrnoName {
    const answer = this.call("fd_readdir", fd, DATA, size, cookie, OUT);
    if (answer !== "ok") return answer;
    const used = this.view.getUint32(OUT, true);
    const entries: GuestEntry[] = [];
    for (let at = 0; at + 24 <= used; ) {
      const length = this.view.getUint32(DATA + at + 16, true);
      if (at + 24 + length > used) break;
      const [next, inode] = [0, 8].map((each) => this.view.getBigUint64(DATA + at + each, true)) as [bigint, bigint];
      const type = this.view.getUint8(DATA + at + 20);
      entries.push({ name: this.slice(DATA + at + 24, length), type, inode, next });
      at += 24 + length;
    }
    return { entries, used };
  }

  /** The whole listing, read as a C library would with a buffer of that size. */
  list(path: string, size = 4096): string[] {
    const fd = this.mustOpen(path, { flags: O.directory });
    const names: string[] = [];
    for (let cookie = 0n, round = 0; round < 10_000; round++) {
      const page = this.readdir(fd, cookie, size);
      if (typeof page === "string") throw new Error(`readdir answered ${page}`);
      names.push(...page.entries.map(({ name }) => name));
      cookie = page.entries.at(-1)?.next ?? cookie;
      if (page.used < size) break;
    }
    this.call("fd_close", fd);
    return names;
  }

  /** Writes a path into memory and gives its address and length. */
  text(path: string | Uint8Array, at = FIRST_TEXT): readonly [number, number] {
    const encoded = typeof path === "string" ? Buffer.from(path) : path;
    this.bytes.set(encoded, at);
    return [at, encoded.length];
  }

  slice(at: number, length: number): string {
    return Buffer.from(this.bytes.slice(at, at + length)).toString();
  }

  private vectors(chunks: readonly (string | Uint8Array)[]): readonly [number, number] {
    let at = DATA;
    for (const [index, chunk] of chunks.entries()) {
      const encoded = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      this.bytes.set(encoded, at);
      this.view.setUint32(VECTORS + index * 8, at, true);
      this.view.setUint32(VECTORS + index * 8 + 4, encoded.length, true);
      at += encoded.length;
    }
    return [VECTORS, chunks.length];
  }

  private received(answer: Answer): string {
    return answer === "ok" ? this.slice(DATA, this.view.getUint32(OUT, true)) : answer;
  }
}

type Four = [bigint, bigint, bigint, bigint];
type Three = [bigint, bigint, bigint];

/** A guest with empty files, which are open to it as the root. */
export function newGuest(options: Partial<WasiHostOptions> = {}): Guest {
  return new Guest(new WasiHost({ vfs: new Vfs(), preopens: { "/": "/" }, ...options }));
}

/** A guest whose only directory lies below the root, so that there is something to escape to. */
export function newJailedGuest(options: Partial<WasiHostOptions> = {}): Guest {
  const vfs = new Vfs();
  vfs.mkdir("/jail");
  vfs.writeFile("/secret", Buffer.from("outside"));
  return new Guest(new WasiHost({ vfs, preopens: { "/jail": "/jail" }, ...options }));
}

export function restoredGuest(saved: SavedHost, options: RestoreOptions = {}): Guest {
  return new Guest(WasiHost.restore(saved, options));
}

/** The name of the failure that a call throws; "ok" when it throws none. */
export function failure(call: () => unknown): Answer {
  try {
    call();
    return "ok";
  } catch (error) {
    if (error instanceof FsError) return error.name;
    throw error;
  }
}

function answerUnknown(errno: number): never {
  throw new Error(`the call answered ${errno}, which no test knows`);
}
