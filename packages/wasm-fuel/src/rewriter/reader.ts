import { ModuleError } from "./module-error.js";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads a module's bytes between two positions. Every read is bounded: what goes over the end is a `ModuleError`. */
export class Reader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.position >= this.end;
  }

  byte(): number {
    if (this.position >= this.end) throw this.fault("it ends too early");
    return this.bytes[this.position++] as number;
  }

  peek(): number {
    if (this.position >= this.end) throw this.fault("it ends too early");
    return this.bytes[this.position] as number;
  }

  /** An unsigned number of 32 bits. Longer forms than the standard allows are refused, as every engine does. */
  u32(): number {
    const first = this.byte();
    return first < 0x80 ? first : this.longU32(first);
  }

  private longU32(first: number): number {
    let value = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    const last = this.byte();
    if (last > 0x0f) throw this.fault("a number is longer than 32 bits");
    return (value | (last << 28)) >>> 0;
  }

  /** Steps over a number without decoding it; the engine checks its value when it compiles the result. */
  skipNumber(mostBytes: number): void {
    for (let count = 1; this.byte() >= 0x80; count += 1) {
      if (count >= mostBytes) throw this.fault("a number is too long");
    }
  }

  skip(count: number): void {
    if (count > this.end - this.position) throw this.fault("it ends too early");
    this.position += count;
  }

  /** A count of things that take at least one byte each, so a small module cannot ask for a large loop. */
  count(what: string): number {
    const count = this.u32();
    if (count > this.end - this.position) throw this.fault(`there cannot be ${count} ${what} in what is left`);
    return count;
  }

  name(): string {
    const length = this.u32();
    const start = this.position;
    this.skip(length);
    try {
      return utf8.decode(this.bytes.subarray(start, this.position));
    } catch {
      throw ModuleError.malformed("a name is not UTF-8", start);
    }
  }

  /** Throws unless everything has been read. */
  finish(what: string): void {
    if (this.position !== this.end) throw this.fault(`${what} is longer than what it holds`);
  }

  fault(what: string): ModuleError {
    return ModuleError.malformed(what, this.position);
  }
}
