import { FILE_TYPES } from "./abi.js";
import type { CallContext, WasiCalls } from "./call-context.js";
import { copyBytes } from "./copy-bytes.js";
import type { Descriptor, Listing } from "./descriptor.js";
import { FsError, SUCCESS } from "./errno.js";
import type { DirectoryEntry, DirectoryInode } from "./inode.js";
import { MemoryDirectory } from "./memory-directory.js";
import { FD_READDIR } from "./rights.js";

const HEADER_SIZE = 24;

/** The call that lists a directory. */
export function directoryCalls(context: CallContext): WasiCalls {
  return {
    fd_readdir: (fd: number, address: number, length: number, cookie: bigint, out: number) =>
      readDirectory(context, [fd, address, length >>> 0, out], cookie),
  };
}

/**
 * Fills the guest's buffer with entries; the last one may be cut, and then the buffer is full, which tells the guest that
 * there is more. It goes on from the cookie of the last entry that it got as a whole.
 */
function readDirectory(context: CallContext, call: readonly [number, number, number, number], cookie: bigint): number {
  const [fd, address, length, out] = call;
  const { table, memory } = context;
  const descriptor = table.get(fd);
  const start = memory.range(address, length);
  memory.range(out, 4);
  const listing = listingFrom(context, descriptor, Number(BigInt.asUintN(64, cookie)));
  let used = 0;
  while (used < length) {
    const entry = listing.held ?? nextOf(listing);
    if (entry === null) break;
    const bytes = encode(entry);
    const count = Math.min(bytes.length, length - used);
    copyBytes(bytes, 0, memory.bytes, start + used, count);
    used += count;
    listing.held = count < bytes.length ? entry : null;
    if (listing.held !== null) break;
    listing.after = entry.cookie;
  }
  context.charge(used);
  memory.setU32(out, used);
  return SUCCESS;
}

/** Goes on with the listing at hand when the guest asks for what comes next, and starts over otherwise. */
function listingFrom(context: CallContext, descriptor: Descriptor, cookie: number): Listing {
  const { inode, listing } = descriptor;
  if (inode.kind !== "directory") throw new FsError("ENOTDIR");
  descriptor.expect(FD_READDIR);
  if (cookie !== 0 && listing !== null && listing.after === cookie) return listing;
  context.charge(inode.count());
  const fresh = { after: cookie, held: null, rest: entriesFrom(inode, cookie) };
  descriptor.listing = fresh;
  return fresh;
}

function nextOf({ rest }: Listing): DirectoryEntry | null {
  const next = rest.next();
  return next.done === true ? null : next.value;
}

function* entriesFrom(directory: DirectoryInode, cookie: number): Generator<DirectoryEntry> {
  const own = directory.stat().inode;
  const parent = directory instanceof MemoryDirectory ? (directory.parent?.inode ?? own) : own;
  if (cookie < 1) yield { cookie: 1, name: ".", kind: "directory", inode: own };
  if (cookie < 2) yield { cookie: 2, name: "..", kind: "directory", inode: parent };
  const rest = directory.entriesAfter(cookie);
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value;
}

function encode({ cookie, name, kind, inode }: DirectoryEntry): Uint8Array {
  const text = Buffer.from(name);
  const bytes = Buffer.alloc(HEADER_SIZE + text.length);
  bytes.writeBigUInt64LE(BigInt(cookie), 0);
  bytes.writeBigUInt64LE(BigInt(inode), 8);
  bytes.writeUInt32LE(text.length, 16);
  bytes.writeUInt8(FILE_TYPES[kind], 20);
  text.copy(bytes, HEADER_SIZE);
  return bytes;
}
