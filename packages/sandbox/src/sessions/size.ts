import type { SavedVfs } from "../wasi/saved-vfs.js";
import type { Parked, ParkedGuest } from "./errand.js";

/** About what a file, a folder or a link takes beside its contents. */
const INODE_BYTES = 400;

/** What is parked never changes, so it is measured once. */
const known = new WeakMap<object, number>();

/** How much memory it takes to keep a parked session, about. */
export function sizeOf({ guest, files = {} }: Parked): number {
  const subject = guest ?? files;
  const size = known.get(subject) ?? (guest === null ? sizeOfFirst(files) : sizeOfGuest(guest));
  known.set(subject, size);
  return size;
}

function sizeOfFirst(files: NonNullable<Parked["files"]>): number {
  return Object.values(files).reduce((sum, { length }) => sum + length, 0);
}

function sizeOfGuest(guest: ParkedGuest): number {
  if (guest.language === "javascript") return (guest.state?.length ?? 0) + sizeOfFiles(guest.files);
  const { pages, host } = guest.state;
  const memory = pages === null ? 0 : pages.bytes.length + pages.runs.byteLength;
  return memory + sizeOfFiles(host.vfs) + host.stdin.length + host.stdout.bytes.length + host.stderr.bytes.length;
}

function sizeOfFiles({ inodes }: SavedVfs): number {
  return inodes.reduce((sum, inode) => sum + INODE_BYTES + (inode.kind === "file" ? inode.bytes.length : 0), 0);
}
