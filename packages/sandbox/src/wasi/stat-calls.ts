import * as abi from "./abi.js";
import type { CallContext, WasiCalls } from "./call-context.js";
import { FsError, SUCCESS } from "./errno.js";
import type { GuestMemory } from "./guest-memory.js";
import type { NewTimes, Stat } from "./inode.js";
import { nanoseconds } from "./moment.js";
import * as rights from "./rights.js";

const FDSTAT_SIZE = 24;
const FILESTAT_SIZE = 64;
const PRESTAT_SIZE = 8;

/** The calls about descriptors themselves: their kind, flags, rights and times, and what was opened from the start. */
export function statCalls(context: CallContext): WasiCalls {
  return {
    fd_fdstat_get: (fd: number, out: number) => describe(context, fd, out),
    fd_fdstat_set_flags: (fd: number, flags: number) => setFlags(context, fd, flags),
    fd_fdstat_set_rights: (fd: number, base: bigint, inheriting: bigint) => setRights(context, fd, base, inheriting),
    fd_filestat_get: (fd: number, out: number) => {
      const descriptor = context.table.get(fd);
      descriptor.expect(rights.FD_FILESTAT_GET);
      writeStat(context.memory, out, (descriptor.file ?? descriptor.inode).stat());
      return SUCCESS;
    },
    fd_filestat_set_times: (fd: number, accessed: bigint, modified: bigint, flags: number) => {
      const descriptor = context.table.get(fd);
      descriptor.expect(rights.FD_FILESTAT_SET_TIMES);
      (descriptor.file ?? descriptor.inode).setTimes(newTimes(context, accessed, modified, flags));
      return SUCCESS;
    },
    fd_prestat_get: (fd: number, out: number) => {
      const name = preopenName(context, fd);
      context.memory.range(out, PRESTAT_SIZE);
      context.memory.setU32(out, 0);
      context.memory.setU32(out + 4, name.length);
      return SUCCESS;
    },
    fd_prestat_dir_name: (fd: number, address: number, length: number) => {
      const name = preopenName(context, fd);
      if (length >>> 0 < name.length) throw new FsError("ENAMETOOLONG");
      context.memory.set(address, name);
      return SUCCESS;
    },
  };
}

/** Writes the structure that describes a file. */
export function writeStat(memory: GuestMemory, out: number, stat: Stat): void {
  const at = memory.range(out, FILESTAT_SIZE);
  memory.bytes.fill(0, at, at + FILESTAT_SIZE);
  memory.setSize(at, stat.device);
  memory.setSize(at + 8, stat.inode);
  memory.setU8(at + 16, abi.FILE_TYPES[stat.kind]);
  memory.setSize(at + 24, stat.links);
  memory.setSize(at + 32, stat.size);
  memory.setU64(at + 40, nanoseconds(stat.accessed));
  memory.setU64(at + 48, nanoseconds(stat.modified));
  memory.setU64(at + 56, nanoseconds(stat.changed));
}

/** The times that a call asks to set; to ask for a time and for now at once is refused. */
export function newTimes({ clock }: CallContext, accessed: bigint, modified: bigint, flags: number): NewTimes {
  const invalid =
    (flags & ~abi.SET_TIMES_MASK) !== 0 ||
    (flags & (abi.SET_ACCESSED | abi.SET_ACCESSED_NOW)) === (abi.SET_ACCESSED | abi.SET_ACCESSED_NOW) ||
    (flags & (abi.SET_MODIFIED | abi.SET_MODIFIED_NOW)) === (abi.SET_MODIFIED | abi.SET_MODIFIED_NOW);
  if (invalid) throw new FsError("EINVAL");
  const times: { accessed?: NewTimes["accessed"]; modified?: NewTimes["modified"] } = {};
  if ((flags & abi.SET_ACCESSED) !== 0) times.accessed = BigInt.asUintN(64, accessed);
  if ((flags & abi.SET_ACCESSED_NOW) !== 0) times.accessed = clock.stamp();
  if ((flags & abi.SET_MODIFIED) !== 0) times.modified = BigInt.asUintN(64, modified);
  if ((flags & abi.SET_MODIFIED_NOW) !== 0) times.modified = clock.stamp();
  return times as NewTimes;
}

function describe({ table, memory }: CallContext, fd: number, out: number): number {
  const descriptor = table.get(fd);
  const at = memory.range(out, FDSTAT_SIZE);
  memory.bytes.fill(0, at, at + FDSTAT_SIZE);
  memory.setU8(at, abi.FILE_TYPES[descriptor.inode.kind]);
  memory.setU16(at + 2, descriptor.flags);
  memory.setSize(at + 8, descriptor.rights);
  memory.setSize(at + 16, descriptor.inheriting);
  return SUCCESS;
}

function setFlags({ table }: CallContext, fd: number, flags: number): number {
  const descriptor = table.get(fd);
  descriptor.expect(rights.FD_FDSTAT_SET_FLAGS);
  if ((flags & ~abi.FD_FLAGS_MASK) !== 0) throw new FsError("EINVAL");
  descriptor.flags = flags;
  return SUCCESS;
}

/** Rights can be given up, never gained. */
function setRights({ table }: CallContext, fd: number, base: bigint, inheriting: bigint): number {
  const descriptor = table.get(fd);
  const [own, passed] = [rights.rightsOf(base), rights.rightsOf(inheriting)];
  if ((own & ~descriptor.rights) !== 0 || (passed & ~descriptor.inheriting) !== 0) throw new FsError("ENOTCAPABLE");
  descriptor.rights = own;
  descriptor.inheriting = passed;
  return SUCCESS;
}

function preopenName({ table }: CallContext, fd: number): Uint8Array {
  const { preopen } = table.get(fd);
  if (preopen === null) throw new FsError("EBADF");
  return Buffer.from(preopen);
}
