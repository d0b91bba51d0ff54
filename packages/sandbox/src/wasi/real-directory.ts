import { closeSync, constants, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { FsError, onHost } from "./errno.js";
import {
  type DirectoryEntry,
  type DirectoryInode,
  FIRST_COOKIE,
  type Inode,
  type NewTimes,
  type Stat,
} from "./inode.js";
import { RealFile, setRealTimes } from "./real-file.js";
import { type RealMount, realStat } from "./real-mount.js";

/** A directory of the host below a mount; links cannot be made in it, and those that are there are not shown. */
export class RealDirectory implements DirectoryInode {
  readonly kind = "directory";
  readonly mount: string;
  readonly path: string;
  private readonly source: RealMount;
  private readonly names: readonly string[];

  constructor(source: RealMount, names: readonly string[]) {
    this.source = source;
    this.names = names;
    this.mount = source.mount;
    this.path = names.join("/");
  }

  lookup(name: string): Inode | undefined {
    const names = [...this.names, name];
    const stats = this.source.look(names);
    if (stats === undefined) return undefined;
    return stats.isDirectory() ? new RealDirectory(this.source, names) : new RealFile(this.source, names);
  }

  count(): number {
    return this.list().length;
  }

  *entriesAfter(cookie: number): Generator<DirectoryEntry> {
    for (const [index, { name, kind }] of this.list().entries()) {
      const own = index + FIRST_COOKIE;
      if (own > cookie) yield { cookie: own, name, kind, inode: this.inodeOf(name) };
    }
  }

  createFile(name: string): RealFile {
    const names = this.expectFree(name);
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR;
    this.adding(() => closeSync(this.source.open(names, flags)));
    this.source.created(names);
    return new RealFile(this.source, names);
  }

  createDirectory(name: string): RealDirectory {
    const names = this.expectFree(name);
    this.adding(() => mkdirSync(this.source.locate(names), 0o755));
    return new RealDirectory(this.source, names);
  }

  createSymlink(): never {
    throw new FsError("EPERM", "a directory of the host takes no symbolic links");
  }

  link(): never {
    throw new FsError("EPERM", "a directory of the host takes no links");
  }

  removeFile(name: string): void {
    const names = this.expectKind(name, "file");
    onHost(() => unlinkSync(this.source.locate(names)));
    this.source.storage.dropFile();
    this.source.forget(names);
  }

  removeDirectory(name: string): void {
    const names = this.expectKind(name, "directory");
    onHost(() => rmdirSync(this.source.locate(names)));
    this.source.storage.dropFile();
    this.source.forget(names);
  }

  rename(name: string, directory: DirectoryInode, newName: string): void {
    this.source.expectWritable();
    if (!(directory instanceof RealDirectory) || directory.source !== this.source) throw new FsError("EXDEV");
    const from = [...this.names, name];
    const to = [...directory.names, newName];
    if (this.source.look(from) === undefined) throw new FsError("ENOENT");
    const replaced = this.source.look(to);
    onHost(() => renameSync(this.source.locate(from), this.source.locate(to)));
    if (replaced !== undefined) this.source.storage.dropFile();
    this.source.storage.sequence += 1;
    this.source.forget(from);
    if (replaced?.isFile() === true) this.source.modified(to);
    else if (this.source.look(to)?.isFile() === true) this.source.created(to);
  }

  stat(): Stat {
    const stats = this.source.look(this.names);
    if (stats === undefined) throw new FsError("ENOENT");
    return realStat(stats, this.source.device);
  }

  setTimes(times: NewTimes): void {
    this.source.expectWritable();
    const path = onHost(() => this.source.locate(this.names));
    const stats = onHost(() => lstatSync(path, { bigint: true }));
    if (!stats.isDirectory()) throw new FsError("EPERM");
    setRealTimes(path, stats, times);
  }

  /** Sorted, so that cookies mean the same as long as nobody changes the directory. */
  private list(): readonly { name: string; kind: "file" | "directory" }[] {
    if (this.source.look(this.names)?.isDirectory() !== true) throw new FsError("ENOENT");
    const found = onHost(() => readdirSync(this.source.locate(this.names), { withFileTypes: true }));
    const shown = found.filter((each) => each.isFile() || each.isDirectory());
    const named = shown.map((each) => ({ name: each.name, kind: each.isFile() ? "file" : "directory" }) as const);
    return named.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Counts a name first, and gives it back when it could not be made. */
  private adding(make: () => void): void {
    this.source.storage.addFile();
    try {
      onHost(make);
    } catch (error) {
      this.source.storage.dropFile();
      throw error;
    }
  }

  private inodeOf(name: string): number {
    const stats = this.source.look([...this.names, name]);
    return stats === undefined ? 0 : realStat(stats, this.source.device).inode;
  }

  private expectFree(name: string): readonly string[] {
    this.source.expectWritable();
    const names = [...this.names, name];
    if (this.source.look(names) !== undefined) throw new FsError("EEXIST");
    return names;
  }

  private expectKind(name: string, kind: "file" | "directory"): readonly string[] {
    this.source.expectWritable();
    const names = [...this.names, name];
    const stats = this.source.look(names);
    if (stats === undefined) throw new FsError("ENOENT");
    if (kind === "file" && stats.isDirectory()) throw new FsError("EISDIR");
    if (kind === "directory" && !stats.isDirectory()) throw new FsError("ENOTDIR");
    return names;
  }
}
