import type { Stream } from "./device.js";

/** A moment as the clock gave it: milliseconds since 1970 from the host, or exact nanoseconds where a guest set them. */
export type Moment = number | bigint;

export type InodeKind = "file" | "directory" | "symlink" | "device";

export interface Stat {
  readonly kind: InodeKind;
  /** The mount that it lies on; 1 is the memory of the session. */
  readonly device: number;
  readonly inode: number;
  readonly links: number;
  readonly size: number;
  readonly accessed: Moment;
  readonly modified: Moment;
  readonly changed: Moment;
}

/** The times to set; what is left out stays. */
export interface NewTimes {
  readonly accessed?: Moment;
  readonly modified?: Moment;
}

/** A file that a descriptor holds. It lives until it is closed, whatever happens to its names. */
export interface OpenFile {
  readonly writable: boolean;
  size(): number;
  /** Copies to `into` at `at`, and says how many bytes there were. */
  read(position: number, into: Uint8Array, at: number, length: number): number;
  /** Writes all of it or fails; what lies between the end and the position becomes zeros. */
  write(position: number, from: Uint8Array, at: number, length: number): void;
  resize(size: number): void;
  sync(): void;
  stat(): Stat;
  setTimes(times: NewTimes): void;
  close(): void;
}

interface Described {
  stat(): Stat;
  setTimes(times: NewTimes): void;
}

export interface FileInode extends Described {
  readonly kind: "file";
  readonly writable: boolean;
  open(write: boolean): OpenFile;
}

export interface SymlinkInode extends Described {
  readonly kind: "symlink";
  readonly target: string;
}

export interface DeviceInode extends Described {
  readonly kind: "device";
  readonly stream: Stream;
}

/** A name in a directory. The cookie is larger than those of the names before it, and stays while the name stays. */
export interface DirectoryEntry {
  readonly cookie: number;
  readonly name: string;
  readonly kind: InodeKind;
  readonly inode: number;
}

/** The cookies of `.` and `..`, which every listing begins with. */
export const FIRST_COOKIE = 3;

/** A directory, in memory or on a mount. Names are single components that were checked before. */
export interface DirectoryInode extends Described {
  readonly kind: "directory";
  lookup(name: string): Inode | undefined;
  /** How many names there are at most, for the charge of a listing that starts over. */
  count(): number;
  /** The names with a larger cookie, without `.` and `..`. */
  entriesAfter(cookie: number): Iterator<DirectoryEntry>;
  createFile(name: string): FileInode;
  createDirectory(name: string): DirectoryInode;
  createSymlink(name: string, target: string): void;
  link(name: string, inode: Inode): void;
  /** Removes the name of anything but a directory. */
  removeFile(name: string): void;
  removeDirectory(name: string): void;
  rename(name: string, directory: DirectoryInode, newName: string): void;
}

export type Inode = FileInode | DirectoryInode | SymlinkInode | DeviceInode;
