import type { CallContext, WasiCalls } from "./call-context.js";
import type { Descriptor } from "./descriptor.js";
import { FsError, SUCCESS } from "./errno.js";
import type { OpenFile } from "./inode.js";
import * as rights from "./rights.js";
import { readFile, readStream, vectorsAt, writeFile, writeStream } from "./vectors.js";

const WHENCE_SET = 0;
const WHENCE_CURRENT = 1;
const WHENCE_END = 2;
const LAST_ADVICE = 5;

/** The calls that read, write and measure what a descriptor holds. */
export function fileCalls(context: CallContext): WasiCalls {
  const { table } = context;
  return {
    fd_read: (fd: number, vectors: number, count: number, out: number) => read(context, fd, vectors, count, out),
    fd_write: (fd: number, vectors: number, count: number, out: number) => write(context, fd, vectors, count, out),
    fd_pread: (fd: number, vectors: number, count: number, offset: bigint, out: number) =>
      readAt(context, fd, vectors, count, offset, out),
    fd_pwrite: (fd: number, vectors: number, count: number, offset: bigint, out: number) =>
      writeAt(context, fd, vectors, count, offset, out),
    fd_seek: (fd: number, offset: bigint, whence: number, out: number) => seek(context, fd, offset, whence, out),
    fd_tell: (fd: number, out: number) => tell(context, fd, out),
    fd_sync: (fd: number) => sync(context, fd, rights.FD_SYNC),
    fd_datasync: (fd: number) => sync(context, fd, rights.FD_DATASYNC),
    fd_advise: (fd: number, offset: bigint, length: bigint, advice: number) =>
      advise(context, fd, offset, length, advice),
    fd_allocate: (fd: number, offset: bigint, length: bigint) => allocate(context, fd, offset, length),
    fd_filestat_set_size: (fd: number, size: bigint) => setSize(context, fd, size),
    fd_close: (fd: number) => {
      table.close(fd);
      return SUCCESS;
    },
    fd_renumber: (from: number, to: number) => {
      table.renumber(from, to);
      return SUCCESS;
    },
  };
}

function read(context: CallContext, fd: number, vectors: number, count: number, out: number): number {
  const descriptor = expectReadable(context, fd);
  const list = vectorsAt(context, vectors, count);
  context.memory.range(out, 4);
  const { file, offset } = descriptor;
  let done: number;
  if (file === null) {
    done = readStream(context, streamOf(descriptor), list);
  } else {
    done = readFile(context, file, offset, list);
    descriptor.offset = offset + done;
  }
  context.memory.setU32(out, done);
  return SUCCESS;
}

function readAt(context: CallContext, fd: number, vectors: number, count: number, offset: bigint, out: number): number {
  const file = expectFile(expectReadable(context, fd), rights.FD_SEEK);
  const position = positionOf(offset);
  const list = vectorsAt(context, vectors, count);
  context.memory.range(out, 4);
  context.memory.setU32(out, readFile(context, file, position, list));
  return SUCCESS;
}

function write(context: CallContext, fd: number, vectors: number, count: number, out: number): number {
  const descriptor = expectWritable(context, fd);
  const list = vectorsAt(context, vectors, count);
  const { total } = list;
  context.memory.range(out, 4);
  context.charge(total);
  const { file } = descriptor;
  if (file === null) {
    writeStream(context, streamOf(descriptor), list);
  } else {
    const position = descriptor.appends ? file.size() : descriptor.offset;
    expectRoom(context, file, position, total);
    writeFile(context, file, position, list);
    descriptor.offset = position + total;
  }
  context.memory.setU32(out, total);
  return SUCCESS;
}

function writeAt(
  context: CallContext,
  fd: number,
  vectors: number,
  count: number,
  offset: bigint,
  out: number,
): number {
  const file = expectFile(expectWritable(context, fd), rights.FD_SEEK);
  const position = positionOf(offset);
  const list = vectorsAt(context, vectors, count);
  const { total } = list;
  context.memory.range(out, 4);
  context.charge(total);
  expectRoom(context, file, position, total);
  writeFile(context, file, position, list);
  context.memory.setU32(out, total);
  return SUCCESS;
}

/** A write that does not fit as a whole, with the hole before it, is refused as a whole. */
function expectRoom({ vfs }: CallContext, file: OpenFile, position: number, total: number): void {
  if (total > 0) vfs.storage.expectRoom(total + Math.max(0, position - file.size()));
}

function seek({ table, memory }: CallContext, fd: number, offset: bigint, whence: number, out: number): number {
  const descriptor = table.get(fd);
  const file = fileOf(descriptor);
  const distance = Number(offset);
  // To ask where one is, is no seek.
  descriptor.expect(distance === 0 && whence === WHENCE_CURRENT ? rights.FD_TELL : rights.FD_SEEK);
  memory.range(out, 8);
  let start = 0;
  if (whence === WHENCE_CURRENT) start = descriptor.offset;
  else if (whence === WHENCE_END) start = file.size();
  else if (whence !== WHENCE_SET) throw new FsError("EINVAL");
  const position = start + distance;
  if (!(position >= 0 && position <= Number.MAX_SAFE_INTEGER)) throw new FsError("EINVAL");
  descriptor.offset = position;
  memory.setSize(out, position);
  return SUCCESS;
}

function tell({ table, memory }: CallContext, fd: number, out: number): number {
  const descriptor = table.get(fd);
  expectFile(descriptor, rights.FD_TELL);
  memory.setSize(out, descriptor.offset);
  return SUCCESS;
}

function sync({ table }: CallContext, fd: number, right: number): number {
  const descriptor = table.get(fd);
  descriptor.expect(right);
  descriptor.file?.sync();
  return SUCCESS;
}

function advise({ table }: CallContext, fd: number, offset: bigint, length: bigint, advice: number): number {
  expectFile(table.get(fd), rights.FD_ADVISE);
  positionOf(offset);
  positionOf(length);
  if (advice >>> 0 > LAST_ADVICE) throw new FsError("EINVAL");
  return SUCCESS;
}

function allocate({ table }: CallContext, fd: number, offset: bigint, length: bigint): number {
  const file = expectFile(table.get(fd), rights.FD_ALLOCATE);
  const size = positionOf(offset) + positionOf(length);
  if (length === 0n) throw new FsError("EINVAL");
  if (size > file.size()) file.resize(size);
  return SUCCESS;
}

function setSize({ table }: CallContext, fd: number, size: bigint): number {
  const file = expectFile(table.get(fd), rights.FD_FILESTAT_SET_SIZE);
  file.resize(positionOf(size));
  return SUCCESS;
}

function expectReadable({ table }: CallContext, fd: number): Descriptor {
  const descriptor = table.get(fd);
  if (descriptor.inode.kind === "directory") throw new FsError("EBADF");
  descriptor.expect(rights.FD_READ);
  return descriptor;
}

function expectWritable({ table }: CallContext, fd: number): Descriptor {
  const descriptor = table.get(fd);
  if (descriptor.inode.kind === "directory") throw new FsError("EBADF");
  descriptor.expect(rights.FD_WRITE);
  return descriptor;
}

function expectFile(descriptor: Descriptor, right: number): OpenFile {
  const file = fileOf(descriptor);
  descriptor.expect(right);
  return file;
}

/** The file of a descriptor; a directory is the wrong kind, and a stream has no position. */
function fileOf({ inode, file }: Descriptor): OpenFile {
  if (file !== null) return file;
  throw new FsError(inode.kind === "directory" ? "EBADF" : "ESPIPE");
}

function streamOf({ inode }: Descriptor): Parameters<typeof readStream>[1] {
  if (inode.kind !== "device") throw new FsError("EBADF");
  return inode.stream;
}

/** A position that a number holds exactly; a guest's 64 bits come signed. */
function positionOf(offset: bigint): number {
  const position = Number(offset);
  if (position < 0 || position > Number.MAX_SAFE_INTEGER) throw new FsError("EINVAL");
  return position;
}
