import { MAX_VECTORS } from "./abi.js";
import type { CallContext } from "./call-context.js";
import type { Stream } from "./device.js";
import { FsError } from "./errno.js";
import type { OpenFile } from "./inode.js";

const VECTOR_SIZE = 8;
const MAX_TOTAL = 0xffff_ffff;

/** A guest's list of ranges that was checked. One object serves all calls, because they come by the million. */
export interface Vectors {
  start: number;
  count: number;
  /** How many bytes the ranges hold. */
  total: number;
}

const CURRENT: Vectors = { start: 0, count: 0, total: 0 };

/** Checks a guest's list of ranges, before anything is read or written. What it gives is good until the next call. */
export function vectorsAt({ memory }: CallContext, vectors: number, count: number): Vectors {
  if (count >>> 0 > MAX_VECTORS) throw new FsError("EINVAL", `more than ${MAX_VECTORS} ranges`);
  const start = memory.range(vectors, count * VECTOR_SIZE);
  let total = 0;
  for (let index = 0; index < count; index++) {
    const at = start + index * VECTOR_SIZE;
    const length = memory.u32(at + 4);
    memory.range(memory.u32(at), length);
    total += length;
  }
  if (total > MAX_TOTAL) throw new FsError("EINVAL", "the ranges are too long together");
  CURRENT.start = start;
  CURRENT.count = count;
  CURRENT.total = total;
  return CURRENT;
}

/**
 * Reads a file into ranges that were checked, and gives how many bytes there were. What is read may land on the list of
 * ranges itself, so each is looked at again, and never more is moved than was paid for.
 */
export function readFile(context: CallContext, file: OpenFile, position: number, list: Vectors): number {
  const { memory } = context;
  const limit = Math.max(0, Math.min(list.total, file.size() - position));
  context.charge(limit);
  let done = 0;
  for (let index = 0; index < list.count && done < limit; index++) {
    const at = list.start + index * VECTOR_SIZE;
    const length = Math.min(memory.u32(at + 4), limit - done);
    const count = file.read(position + done, memory.bytes, memory.range(memory.u32(at), length), length);
    done += count;
    if (count < length) break;
  }
  return done;
}

/** Writes ranges that were checked to a file. */
export function writeFile({ memory }: CallContext, file: OpenFile, position: number, list: Vectors): void {
  let to = position;
  for (let index = 0; index < list.count; index++) {
    const at = list.start + index * VECTOR_SIZE;
    const length = memory.u32(at + 4);
    file.write(to, memory.bytes, memory.u32(at), length);
    to += length;
  }
}

/** Reads a stream into ranges that were checked; it stops where the stream gives less than it was asked for. */
export function readStream(context: CallContext, stream: Stream, list: Vectors): number {
  const { memory } = context;
  if (stream.read === undefined) throw new FsError("EBADF");
  // A device may run another guest meanwhile, whose calls use the list.
  const { start, count: vectors, total } = list;
  let done = 0;
  for (let index = 0; index < vectors && done < total; index++) {
    const at = start + index * VECTOR_SIZE;
    const length = Math.min(memory.u32(at + 4), total - done);
    if (length === 0) continue;
    const count = stream.read(memory.bytes, memory.range(memory.u32(at), length), length);
    memory.refresh();
    done += count;
    if (count < length) break;
  }
  context.charge(done);
  return done;
}

/** Writes ranges that were checked to a stream. */
export function writeStream({ memory }: CallContext, stream: Stream, list: Vectors): void {
  if (stream.write === undefined) throw new FsError("EBADF");
  const { start, count } = list;
  for (let index = 0; index < count; index++) {
    const at = start + index * VECTOR_SIZE;
    const length = memory.u32(at + 4);
    if (length === 0) continue;
    stream.write(memory.bytes, memory.range(memory.u32(at), length), length);
    memory.refresh();
  }
}
