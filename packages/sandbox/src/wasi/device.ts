import { FsError } from "./errno.js";
import type { DeviceInode, NewTimes, Stat } from "./inode.js";

/**
 * A character device in the hands of the host. The callbacks get a part of the guest's memory, which is not theirs to
 * keep; what they throw, other than an `FsError`, leaves the guest, which is how a device suspends it.
 */
export interface Device {
  /** Gives how many bytes were put there; 0 is the end of the input. */
  read?(into: Uint8Array): number;
  /** Takes all of them. */
  write?(chunk: Uint8Array): void;
}

/** What reads and writes of a descriptor without a position go to: a range of the guest's memory that was checked. */
export interface Stream {
  read?(into: Uint8Array, at: number, length: number): number;
  write?(from: Uint8Array, at: number, length: number): void;
}

/** Reads as empty and swallows everything, as programs expect of `/dev/null`. */
export const NULL_DEVICE: Device = { read: () => 0, write: () => undefined };

/** A device of the host as a stream; a count that cannot be true is not passed on to the guest. */
export function streamOf(device: Device): Stream {
  const stream: Stream = {};
  if (device.read !== undefined) {
    stream.read = (into, at, length) => {
      const count = device.read?.(into.subarray(at, at + length)) ?? 0;
      if (!Number.isInteger(count) || count < 0 || count > length) throw new FsError("EIO", "the device miscounted");
      return count;
    };
  }
  if (device.write !== undefined) stream.write = (from, at, length) => device.write?.(from.subarray(at, at + length));
  return stream;
}

const FIRST_NUMBER = 2 ** 52;

/** A device with a place in the tree of files, or one of the three streams that a guest starts with. */
export class DeviceNode implements DeviceInode {
  readonly kind = "device";
  readonly stream: Stream;
  /** Where it is mounted, or the name of the stream. */
  readonly mount: string;
  private readonly inode: number;

  /** The number sets it apart from other devices, and counts from where no file's number comes to. */
  constructor(stream: Stream, mount: string, number: number) {
    this.stream = stream;
    this.mount = mount;
    this.inode = FIRST_NUMBER + number;
  }

  stat(): Stat {
    return {
      kind: "device",
      device: 1,
      inode: this.inode,
      links: 1,
      size: 0,
      accessed: 0,
      modified: 0,
      changed: 0,
    };
  }

  setTimes(_times: NewTimes): void {}
}
