import * as abi from "./abi.js";
import type { CallContext, WasiCalls } from "./call-context.js";
import { FsError, SUCCESS, wasiErrno } from "./errno.js";
import { timeOn } from "./process-calls.js";
import { POLL_FD_READWRITE } from "./rights.js";

const SUBSCRIPTION_SIZE = 48;
const EVENT_SIZE = 32;
const MAX_SUBSCRIPTIONS = 1024;
const ON_CLOCK = 0;
const ON_READ = 1;
const ON_WRITE = 2;
const ABSOLUTE = 1;
const HANGUP = 1;

interface Event {
  readonly userdata: bigint;
  readonly type: number;
  readonly errno: number;
  readonly bytes: number;
  readonly flags: number;
}

interface Alarm {
  readonly event: Event;
  readonly delayNs: bigint;
}

/** The call that waits for the clock or for descriptors. Ours are always ready, so it waits for the clock alone. */
export function pollCalls(context: CallContext): WasiCalls {
  return {
    poll_oneoff: (input: number, output: number, count: number, out: number) =>
      poll(context, input, output, [count >>> 0, out]),
  };
}

function poll(context: CallContext, input: number, output: number, call: readonly [number, number]): number {
  const [count, out] = call;
  const { memory } = context;
  if (count === 0 || count > MAX_SUBSCRIPTIONS) throw new FsError("EINVAL");
  const start = memory.range(input, count * SUBSCRIPTION_SIZE);
  const target = memory.range(output, count * EVENT_SIZE);
  memory.range(out, 4);
  context.charge(count * SUBSCRIPTION_SIZE);
  const ready: Event[] = [];
  const alarms: Alarm[] = [];
  for (let index = 0; index < count; index++) {
    const at = start + index * SUBSCRIPTION_SIZE;
    if (memory.u8(at + 8) === ON_CLOCK) alarms.push(alarmAt(context, at));
    else ready.push(readinessAt(context, at));
  }
  const due = ready.length > 0 ? alarms.filter(({ delayNs }) => delayNs <= 0n) : waitFor(context, alarms);
  const events = [...ready, ...due.map(({ event }) => event)];
  for (const [index, event] of events.entries()) writeEvent(context, target + index * EVENT_SIZE, event);
  memory.setU32(out, events.length);
  return SUCCESS;
}

/** Waits for the first alarm, and gives all that are due with it. */
function waitFor(context: CallContext, alarms: readonly Alarm[]): readonly Alarm[] {
  const first = alarms.reduce((least, { delayNs }) => (delayNs < least ? delayNs : least), alarms[0]?.delayNs ?? 0n);
  if (first > 0n && !context.clock.pass(first)) context.sleep(first);
  context.memory.refresh();
  return alarms.filter(({ delayNs }) => delayNs <= first || delayNs <= 0n);
}

function alarmAt(context: CallContext, at: number): Alarm {
  const { memory } = context;
  const event = { userdata: memory.u64(at), type: ON_CLOCK, errno: SUCCESS, bytes: 0, flags: 0 };
  const id = memory.u32(at + 16);
  const timeout = memory.u64(at + 24);
  if (id >= abi.CLOCK_COUNT) return { event: { ...event, errno: wasiErrno("EINVAL") }, delayNs: 0n };
  const isAbsolute = (memory.u16(at + 40) & ABSOLUTE) !== 0;
  return { event, delayNs: isAbsolute ? timeout - timeOn(context, id) : timeout };
}

function readinessAt(context: CallContext, at: number): Event {
  const { memory, table } = context;
  const type = memory.u8(at + 8);
  if (type !== ON_READ && type !== ON_WRITE) throw new FsError("EINVAL");
  const event = { userdata: memory.u64(at), type, errno: SUCCESS, bytes: 0, flags: 0 };
  const descriptor = table.find(memory.u32(at + 16));
  if (descriptor === undefined || descriptor.inode.kind === "directory") {
    return { ...event, errno: wasiErrno("EBADF") };
  }
  if ((descriptor.rights & POLL_FD_READWRITE) === 0) return { ...event, errno: wasiErrno("ENOTCAPABLE") };
  if (type === ON_WRITE) return event;
  if (descriptor.file !== null) return { ...event, bytes: Math.max(0, descriptor.file.size() - descriptor.offset) };
  const bytes = context.available(descriptor);
  return { ...event, bytes, flags: bytes === 0 ? HANGUP : 0 };
}

function writeEvent({ memory }: CallContext, at: number, event: Event): void {
  memory.bytes.fill(0, at, at + EVENT_SIZE);
  memory.setU64(at, event.userdata);
  memory.setU16(at + 8, event.errno);
  memory.setU8(at + 10, event.type);
  memory.setSize(at + 16, event.bytes);
  memory.setU16(at + 24, event.flags);
}
