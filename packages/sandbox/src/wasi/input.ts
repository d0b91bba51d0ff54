import { copyBytes } from "./copy-bytes.js";
import type { Stream } from "./device.js";

/** What a guest reads as its standard input: bytes that are there from the start, and then the end. */
export class Input implements Stream {
  private bytes: Uint8Array;
  private position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** How much is left. */
  get available(): number {
    return this.bytes.length - this.position;
  }

  /** Takes other bytes instead of what is left, as each execution of a session may. */
  replace(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.position = 0;
  }

  read(into: Uint8Array, at: number, length: number): number {
    const count = Math.min(length, this.available);
    copyBytes(this.bytes, this.position, into, at, count);
    this.position += count;
    return count;
  }

  /** What is left, as a copy. */
  save(): Uint8Array {
    return this.bytes.slice(this.position);
  }
}
