import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  readSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { FsError, onHost } from "./errno.js";
import type { FileInode, NewTimes, OpenFile, Stat } from "./inode.js";
import { milliseconds } from "./moment.js";
import { type RealMount, realStat } from "./real-mount.js";

const MS_PER_SECOND = 1000;

/** A file of the host below a mount. */
export class RealFile implements FileInode {
  readonly kind = "file";
  readonly writable: boolean;
  readonly mount: string;
  readonly path: string;
  private readonly source: RealMount;
  private readonly names: readonly string[];

  constructor(source: RealMount, names: readonly string[]) {
    this.source = source;
    this.names = names;
    this.mount = source.mount;
    this.path = names.join("/");
    this.writable = source.writable;
  }

  open(write: boolean): OpenFile {
    if (write) this.source.expectWritable();
    const fd = onHost(() => this.source.open(this.names, write ? constants.O_RDWR : constants.O_RDONLY));
    return new RealHandle(this.source, this.names, fd, write);
  }

  stat(): Stat {
    const stats = this.source.look(this.names);
    if (stats === undefined) throw new FsError("ENOENT");
    return realStat(stats, this.source.device);
  }

  setTimes(times: NewTimes): void {
    const file = this.open(true);
    try {
      file.setTimes(times);
    } finally {
      file.close();
    }
  }
}

/** Sets the times of a directory of the host, whose names have just been looked at. */
export function setRealTimes(path: string, stats: BigIntStats, times: NewTimes): void {
  const accessed = milliseconds(times.accessed ?? stats.atimeNs) / MS_PER_SECOND;
  const modified = milliseconds(times.modified ?? stats.mtimeNs) / MS_PER_SECOND;
  onHost(() => utimesSync(path, accessed, modified));
}

/** A file of the host that a descriptor holds; it stays with the file, whatever becomes of its name. */
class RealHandle implements OpenFile {
  readonly writable: boolean;
  private readonly source: RealMount;
  private readonly names: readonly string[];
  private readonly fd: number;

  constructor(source: RealMount, names: readonly string[], fd: number, writable: boolean) {
    this.source = source;
    this.names = names;
    this.fd = fd;
    this.writable = writable;
  }

  size(): number {
    return onHost(() => fstatSync(this.fd).size);
  }

  read(position: number, into: Uint8Array, at: number, length: number): number {
    return length === 0 ? 0 : onHost(() => readSync(this.fd, into, at, length, position));
  }

  write(position: number, from: Uint8Array, at: number, length: number): void {
    if (length === 0) return;
    this.source.storage.write(length + Math.max(0, position - this.size()));
    for (let done = 0; done < length; ) {
      const count = onHost(() => writeSync(this.fd, from, at + done, length - done, position + done));
      if (count === 0) throw new FsError("EIO");
      done += count;
    }
    this.source.modified(this.names);
  }

  resize(size: number): void {
    this.source.storage.write(Math.max(0, size - this.size()));
    onHost(() => ftruncateSync(this.fd, size));
    this.source.modified(this.names);
  }

  sync(): void {
    onHost(() => fsyncSync(this.fd));
  }

  stat(): Stat {
    return realStat(
      onHost(() => fstatSync(this.fd, { bigint: true })),
      this.source.device,
    );
  }

  setTimes(times: NewTimes): void {
    this.source.expectWritable();
    const stats = onHost(() => fstatSync(this.fd, { bigint: true }));
    const accessed = milliseconds(times.accessed ?? stats.atimeNs) / MS_PER_SECOND;
    const modified = milliseconds(times.modified ?? stats.mtimeNs) / MS_PER_SECOND;
    onHost(() => futimesSync(this.fd, accessed, modified));
  }

  close(): void {
    onHost(() => closeSync(this.fd));
  }
}
