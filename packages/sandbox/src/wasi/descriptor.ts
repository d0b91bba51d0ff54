import { FD_APPEND } from "./abi.js";
import { FsError } from "./errno.js";
import type { DirectoryEntry, DirectoryInode, Inode, OpenFile } from "./inode.js";
import type { Base } from "./resolve.js";

/** A listing that a guest is in the middle of. */
export interface Listing {
  /** The cookie after which it goes on. */
  after: number;
  /** An entry that did not fit the guest's buffer. */
  held: DirectoryEntry | null;
  readonly rest: Iterator<DirectoryEntry>;
}

/** Something that a guest has open, and what it may do with it. */
export class Descriptor {
  readonly inode: Inode;
  /** What reads and writes go to; null when it is no file. */
  readonly file: OpenFile | null;
  offset = 0;
  flags: number;
  rights: number;
  inheriting: number;
  /** The name under which a directory was opened to the guest from the start. */
  readonly preopen: string | null;
  listing: Listing | null = null;

  constructor(
    inode: Inode,
    options: {
      readonly file?: OpenFile | null;
      readonly flags?: number;
      readonly rights: number;
      readonly inheriting?: number;
      readonly preopen?: string | null;
    },
  ) {
    this.inode = inode;
    this.file = options.file ?? null;
    this.flags = options.flags ?? 0;
    this.rights = options.rights;
    this.inheriting = options.inheriting ?? 0;
    this.preopen = options.preopen ?? null;
  }

  get appends(): boolean {
    return (this.flags & FD_APPEND) !== 0;
  }

  expect(right: number): void {
    if ((this.rights & right) !== right) throw new FsError("ENOTCAPABLE");
  }

  close(): void {
    this.file?.close();
  }
}

/** The directory that a path starts from, if the descriptor is one and has the right to it. */
export function baseOf(descriptor: Descriptor, right: number, root: DirectoryInode): Base {
  const { inode } = descriptor;
  if (inode.kind !== "directory") throw new FsError("ENOTDIR");
  descriptor.expect(right);
  return { directory: inode, isRoot: inode === root };
}
