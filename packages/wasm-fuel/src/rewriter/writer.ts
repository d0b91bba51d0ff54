const utf8 = new TextEncoder();

/** A place for a size that is known only later always takes this many bytes. */
const SIZE_BYTES = 5;

/** Collects the bytes of a module, and grows with them. */
export class Writer {
  private bytes: Uint8Array;
  position = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  private reserve(count: number): void {
    if (this.position + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.ceil(this.bytes.length * 1.5) + count);
    larger.set(this.bytes.subarray(0, this.position));
    this.bytes = larger;
  }

  byte(value: number): void {
    if (this.position === this.bytes.length) this.reserve(1);
    this.bytes[this.position++] = value;
  }

  /** An operator followed by an index or another unsigned immediate. */
  operator(code: number, immediate: number): void {
    this.byte(code);
    this.u32(immediate);
  }

  u32(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.byte(rest);
  }

  /** A signed number, exact for all safe integers. */
  signed(value: number): void {
    let rest = value;
    for (;;) {
      const high = Math.floor(rest / 128);
      const low = rest - high * 128;
      if ((high === 0 && low < 64) || (high === -1 && low >= 64)) {
        this.byte(low);
        return;
      }
      this.byte(low | 0x80);
      rest = high;
    }
  }

  name(text: string): void {
    const encoded = utf8.encode(text);
    this.u32(encoded.length);
    this.copy(encoded, 0, encoded.length);
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.reserve(count);
    if (count < 48) {
      for (let at = start; at < end; at += 1) this.bytes[this.position++] = source[at] as number;
    } else {
      this.bytes.set(source.subarray(start, end), this.position);
      this.position += count;
    }
  }

  /** Leaves a place for a size; `closeSize` fills it in. Gives the position where the sized part begins. */
  openSize(): number {
    this.reserve(SIZE_BYTES);
    this.position += SIZE_BYTES;
    return this.position;
  }

  closeSize(start: number): void {
    const size = this.position - start;
    const at = start - SIZE_BYTES;
    for (let index = 0; index < SIZE_BYTES - 1; index += 1)
      this.bytes[at + index] = ((size >>> (7 * index)) & 0x7f) | 0x80;
    this.bytes[start - 1] = size >>> 28;
  }

  /** What has been written; it shares its memory with this writer. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.position);
  }
}
