/** Reads the binary format in the plainest way: numbers are decoded as the specification writes them down, and nothing is checked. */
export class Cursor {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new Error("the module ends too early");
    return byte;
  }

  unsigned(): number {
    return Number(this.leb(false));
  }

  signed(): bigint {
    return this.leb(true);
  }

  f32(): number {
    return new DataView(this.take(4).buffer).getFloat32(0, true);
  }

  f64(): number {
    return new DataView(this.take(8).buffer).getFloat64(0, true);
  }

  name(): string {
    return new TextDecoder().decode(this.take(this.unsigned()));
  }

  take(count: number): Uint8Array {
    const taken = this.bytes.slice(this.at, this.at + count);
    this.at += count;
    return taken;
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.unsigned() }, read);
  }

  private leb(isSigned: boolean): bigint {
    let [value, shift, byte] = [0n, 0n, 0x80];
    while (byte >= 0x80) {
      byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
    }
    return isSigned && (byte & 0x40) !== 0 ? value - (1n << shift) : value;
  }
}
