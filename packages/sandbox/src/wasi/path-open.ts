import * as abi from "./abi.js";
import type { CallContext } from "./call-context.js";
import { baseOf, Descriptor } from "./descriptor.js";
import { FsError, SUCCESS } from "./errno.js";
import type { FileInode, Inode } from "./inode.js";
import { openInode } from "./operations.js";
import * as rights from "./rights.js";

/** What a guest asks for when it opens a path. */
export interface PathOpen {
  readonly fd: number;
  readonly follow: boolean;
  readonly flags: number;
  readonly base: bigint;
  readonly inheriting: bigint;
  readonly fdFlags: number;
  readonly out: number;
}

/** Opens a path; the new descriptor gets no right that the directory does not pass on. */
export function openPath(context: CallContext, call: PathOpen, path: string): number {
  const { table, memory, vfs } = context;
  memory.range(call.out, 4);
  const parent = table.get(call.fd);
  const base = baseOf(parent, rights.PATH_OPEN | rightsFor(call.flags), vfs.root);
  checkFlags(call);
  const asked = rights.rightsOf(call.base) & rights.ALL_RIGHTS;
  const passed = rights.rightsOf(call.inheriting) & rights.ALL_RIGHTS;
  if (((asked | passed) & ~parent.inheriting) !== 0) throw new FsError("ENOTCAPABLE");
  table.expectRoom();
  const truncate = has(call.flags, abi.OPEN_TRUNCATE);
  const request = {
    follow: call.follow,
    create: has(call.flags, abi.OPEN_CREATE),
    exclusive: has(call.flags, abi.OPEN_EXCLUSIVE),
    directory: has(call.flags, abi.OPEN_DIRECTORY),
    truncate,
    write: has(asked, rights.FD_WRITE),
  };
  const inode = openInode(base, path, request, vfs.storage);
  const fd = table.add(descriptorFor(inode, { asked, passed, truncate, flags: call.fdFlags }));
  memory.setU32(call.out, fd);
  return SUCCESS;
}

interface Terms {
  readonly asked: number;
  readonly passed: number;
  readonly truncate: boolean;
  readonly flags: number;
}

function descriptorFor(inode: Inode, terms: Terms): Descriptor {
  const { asked, passed, flags } = terms;
  switch (inode.kind) {
    case "directory":
      return new Descriptor(inode, { flags, rights: asked & rights.DIRECTORY_RIGHTS, inheriting: passed });
    case "file":
      return openFile(inode, terms);
    case "device":
      return new Descriptor(inode, { flags, rights: asked & deviceRights(inode.stream) });
    default:
      throw new FsError("ELOOP");
  }
}

function openFile(inode: FileInode, { asked, truncate, flags }: Terms): Descriptor {
  const granted = asked & (inode.writable ? rights.FILE_RIGHTS : rights.FILE_RIGHTS & ~rights.CHANGES);
  const file = inode.open((granted & rights.CHANGES) !== 0 || truncate);
  if (truncate) file.resize(0);
  return new Descriptor(inode, { file, flags, rights: granted });
}

/** What can be done with a device: what it has callbacks for. */
function deviceRights(stream: { readonly read?: unknown; readonly write?: unknown }): number {
  const read = stream.read === undefined ? rights.FD_READ : 0;
  const write = stream.write === undefined ? rights.FD_WRITE : 0;
  return rights.DEVICE_RIGHTS & ~(read | write);
}

function rightsFor(flags: number): number {
  const create = has(flags, abi.OPEN_CREATE) ? rights.PATH_CREATE_FILE : 0;
  return create | (has(flags, abi.OPEN_TRUNCATE) ? rights.PATH_FILESTAT_SET_SIZE : 0);
}

function checkFlags({ flags, fdFlags }: PathOpen): void {
  const changes = abi.OPEN_CREATE | abi.OPEN_EXCLUSIVE | abi.OPEN_TRUNCATE;
  const invalid =
    (flags & ~abi.OPEN_MASK) !== 0 ||
    (fdFlags & ~abi.FD_FLAGS_MASK) !== 0 ||
    (has(flags, abi.OPEN_DIRECTORY) && (flags & changes) !== 0);
  if (invalid) throw new FsError("EINVAL");
}

function has(flags: number, flag: number): boolean {
  return (flags & flag) !== 0;
}
