import { copyBytes } from "./copy-bytes.js";
import type { Stream } from "./device.js";

/** What is kept of an output. */
export interface SavedOutput {
  readonly bytes: Uint8Array;
  readonly dropped: number;
}

const SMALLEST = 1024;

/** What a guest has printed, up to a limit; what comes later is dropped and counted, and the guest is not told. */
export class Output implements Stream {
  readonly limitBytes: number;
  /** How many bytes did not fit. */
  dropped = 0;
  private readonly listen: ((chunk: Uint8Array) => void) | null;
  private kept: Uint8Array = new Uint8Array(0);
  private length = 0;

  /** The listener is given what is kept, as it comes. */
  constructor(limitBytes: number, listen: ((chunk: Uint8Array) => void) | null = null, saved?: SavedOutput) {
    this.limitBytes = limitBytes;
    this.listen = listen;
    if (saved === undefined) return;
    this.kept = saved.bytes.slice();
    this.length = this.kept.length;
    this.dropped = saved.dropped;
  }

  get truncated(): boolean {
    return this.dropped > 0;
  }

  write(from: Uint8Array, at: number, length: number): void {
    const count = Math.max(0, Math.min(length, this.limitBytes - this.length));
    this.dropped += length - count;
    if (count === 0) return;
    this.grow(this.length + count);
    copyBytes(from, at, this.kept, this.length, count);
    this.length += count;
    this.listen?.(this.kept.slice(this.length - count, this.length));
  }

  bytes(): Uint8Array {
    return this.kept.slice(0, this.length);
  }

  /** As text; a character that the limit cut in two is left out, and bytes that are no text are replaced. */
  text(): string {
    const end = this.truncated ? wholeCharacters(this.kept, this.length) : this.length;
    return new TextDecoder().decode(this.kept.subarray(0, end));
  }

  /** Starts over, as each execution of a session does. */
  clear(): void {
    this.kept = new Uint8Array(0);
    this.length = 0;
    this.dropped = 0;
  }

  save(): SavedOutput {
    return { bytes: this.bytes(), dropped: this.dropped };
  }

  private grow(size: number): void {
    if (size <= this.kept.length) return;
    const grown = new Uint8Array(Math.max(size, 2 * this.kept.length, SMALLEST));
    grown.set(this.kept.subarray(0, this.length));
    this.kept = grown;
  }
}

/** Where the last character ends that is there as a whole. */
function wholeCharacters(bytes: Uint8Array, length: number): number {
  let start = length - 1;
  while (start > length - 4 && start >= 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const lead = bytes[start] ?? 0;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + size > length ? Math.max(0, start) : length;
}
