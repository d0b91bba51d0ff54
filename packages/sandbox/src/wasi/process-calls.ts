import * as abi from "./abi.js";
import type { CallContext, WasiCalls } from "./call-context.js";
import { FsError, SUCCESS } from "./errno.js";
import { ProcExit } from "./proc-exit.js";

/** The calls about the process itself: arguments, environment, time, randomness, the end. Sockets are refused. */
export function processCalls(context: CallContext): WasiCalls {
  const { table, args, env } = context;
  const noSocket = (fd: number): number => {
    table.get(fd);
    throw new FsError("ENOTSOCK");
  };
  return {
    args_get: (pointers: number, address: number) => writeTexts(context, args, pointers, address),
    args_sizes_get: (count: number, size: number) => writeSizes(context, args, count, size),
    environ_get: (pointers: number, address: number) => writeTexts(context, env, pointers, address),
    environ_sizes_get: (count: number, size: number) => writeSizes(context, env, count, size),
    clock_res_get: (id: number, out: number) => resolution(context, id, out),
    clock_time_get: (id: number, _precision: bigint, out: number) => readClock(context, id, out),
    random_get: (address: number, length: number) => randomBytes(context, address, length >>> 0),
    sched_yield: () => SUCCESS,
    proc_exit: (code: number) => {
      throw new ProcExit(code >>> 0);
    },
    proc_raise: () => {
      throw new FsError("ENOSYS");
    },
    sock_accept: noSocket,
    sock_recv: noSocket,
    sock_send: noSocket,
    sock_shutdown: noSocket,
  };
}

/** The time on one of the clocks that a guest may ask for. */
export function timeOn({ clock }: CallContext, id: number): bigint {
  if (id >>> 0 >= abi.CLOCK_COUNT) throw new FsError("EINVAL");
  return id === abi.CLOCK_REALTIME ? clock.realtime() : clock.monotonic();
}

function readClock(context: CallContext, id: number, out: number): number {
  context.memory.range(out, 8);
  context.memory.setU64(out, BigInt.asUintN(64, timeOn(context, id)));
  return SUCCESS;
}

function resolution({ clock, memory }: CallContext, id: number, out: number): number {
  if (id >>> 0 >= abi.CLOCK_COUNT) throw new FsError("EINVAL");
  memory.setU64(out, clock.resolution(id === abi.CLOCK_REALTIME));
  return SUCCESS;
}

function randomBytes({ memory, random, charge }: CallContext, address: number, length: number): number {
  const start = memory.range(address, length);
  charge(length);
  random.fill(memory.bytes, start, length);
  return SUCCESS;
}

function writeSizes({ memory }: CallContext, texts: readonly Uint8Array[], count: number, size: number): number {
  memory.range(size, 4);
  memory.setU32(count, texts.length);
  memory.setU32(size, sizeOf(texts));
  return SUCCESS;
}

function writeTexts(context: CallContext, texts: readonly Uint8Array[], pointers: number, address: number): number {
  const { memory, charge } = context;
  const size = sizeOf(texts);
  const list = memory.range(pointers, texts.length * 4);
  let at = memory.range(address, size);
  charge(size);
  for (const [index, text] of texts.entries()) {
    memory.setU32(list + index * 4, at);
    memory.set(at, text);
    at += text.length;
  }
  return SUCCESS;
}

function sizeOf(texts: readonly Uint8Array[]): number {
  return texts.reduce((total, { length }) => total + length, 0);
}
