import * as abi from "./abi.js";
import type { CallContext, WasiCalls } from "./call-context.js";
import { baseOf } from "./descriptor.js";
import { FsError, SUCCESS } from "./errno.js";
import {
  findInode,
  linkFile,
  makeDirectory,
  makeSymlink,
  readSymlink,
  removeDirectory,
  renameInode,
  unlinkFile,
} from "./operations.js";
import { openPath } from "./path-open.js";
import type { Base, LastLink } from "./resolve.js";
import * as rights from "./rights.js";
import { newTimes, writeStat } from "./stat-calls.js";

/** The calls that name what they are about by a path below a directory that is open. */
export function pathCalls(context: CallContext): WasiCalls {
  const at = (fd: number, right: number): Base => baseOf(context.table.get(fd), right, context.vfs.root);
  return { ...changeCalls(context, at), ...lookCalls(context, at), ...linkCalls(context, at) };
}

type At = (fd: number, right: number) => Base;

/** A path of the guest, paid for by its length. */
function pathText({ memory, charge }: CallContext, address: number, length: number): string {
  const path = memory.text(address, length);
  charge(length >>> 0);
  return path;
}

function changeCalls(context: CallContext, at: At): WasiCalls {
  return {
    path_create_directory: (fd: number, path: number, length: number) => {
      makeDirectory(at(fd, rights.PATH_CREATE_DIRECTORY), pathText(context, path, length));
      return SUCCESS;
    },
    path_remove_directory: (fd: number, path: number, length: number) => {
      removeDirectory(at(fd, rights.PATH_REMOVE_DIRECTORY), pathText(context, path, length));
      return SUCCESS;
    },
    path_unlink_file: (fd: number, path: number, length: number) => {
      unlinkFile(at(fd, rights.PATH_UNLINK_FILE), pathText(context, path, length));
      return SUCCESS;
    },
    path_rename: (fd: number, path: number, length: number, newFd: number, newPath: number, newLength: number) => {
      const from = at(fd, rights.PATH_RENAME_SOURCE);
      const to = at(newFd, rights.PATH_RENAME_TARGET);
      renameInode(from, pathText(context, path, length), to, pathText(context, newPath, newLength));
      return SUCCESS;
    },
  };
}

function lookCalls(context: CallContext, at: At): WasiCalls {
  return {
    path_open: (
      fd: number,
      lookup: number,
      path: number,
      length: number,
      flags: number,
      base: bigint,
      inheriting: bigint,
      fdFlags: number,
      out: number,
    ) => {
      const request = { fd, follow: follows(lookup) === "follow", flags, base, inheriting, fdFlags, out };
      return openPath(context, request, pathText(context, path, length));
    },
    path_filestat_get: (fd: number, lookup: number, path: number, length: number, out: number) => {
      const base = at(fd, rights.PATH_FILESTAT_GET);
      writeStat(context.memory, out, findInode(base, pathText(context, path, length), follows(lookup)).stat());
      return SUCCESS;
    },
    path_filestat_set_times: (
      fd: number,
      lookup: number,
      path: number,
      length: number,
      accessed: bigint,
      modified: bigint,
      flags: number,
    ) => {
      const base = at(fd, rights.PATH_FILESTAT_SET_TIMES);
      const times = newTimes(context, accessed, modified, flags);
      findInode(base, pathText(context, path, length), follows(lookup)).setTimes(times);
      return SUCCESS;
    },
  };
}

function linkCalls(context: CallContext, at: At): WasiCalls {
  return {
    path_symlink: (target: number, targetLength: number, fd: number, path: number, length: number) => {
      const base = at(fd, rights.PATH_SYMLINK);
      makeSymlink(base, pathText(context, target, targetLength), pathText(context, path, length));
      return SUCCESS;
    },
    path_readlink: (fd: number, path: number, length: number, address: number, size: number, out: number) => {
      const base = at(fd, rights.PATH_READLINK);
      return readLink(context, base, pathText(context, path, length), [address, size, out]);
    },
    path_link: (
      fd: number,
      lookup: number,
      path: number,
      length: number,
      newFd: number,
      newPath: number,
      newLength: number,
    ) => {
      // A second name for what a link leads to is not in the interface's semantics; the link itself can have one.
      if (lookup !== 0) throw new FsError("EINVAL");
      const from = at(fd, rights.PATH_LINK_SOURCE);
      const to = at(newFd, rights.PATH_LINK_TARGET);
      linkFile(from, pathText(context, path, length), to, pathText(context, newPath, newLength));
      return SUCCESS;
    },
  };
}

function readLink(
  { memory, charge }: CallContext,
  base: Base,
  path: string,
  into: readonly [number, number, number],
): number {
  const [address, size, out] = into;
  const start = memory.range(address, size >>> 0);
  memory.range(out, 4);
  const target = Buffer.from(readSymlink(base, path));
  const count = Math.min(target.length, size >>> 0);
  charge(count);
  memory.bytes.set(target.subarray(0, count), start);
  memory.setU32(out, count);
  return SUCCESS;
}

function follows(lookup: number): LastLink {
  if ((lookup & ~abi.LOOKUP_FOLLOW) !== 0) throw new FsError("EINVAL");
  return lookup === abi.LOOKUP_FOLLOW ? "follow" : "keep";
}
