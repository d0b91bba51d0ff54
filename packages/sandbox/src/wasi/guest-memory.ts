import type { WasmMemory } from "@bursar/wasm-fuel";
import { MAX_PATH_BYTES } from "./abi.js";
import { FsError } from "./errno.js";

const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const NO_BUFFER = new ArrayBuffer(0);

/**
 * The memory of a guest. Every address and length comes from the guest: they are taken as unsigned, and a range that does
 * not lie inside fails the call with EFAULT. The views are kept until the memory grows.
 */
export class GuestMemory {
  bytes: Uint8Array = new Uint8Array(NO_BUFFER);
  private view: DataView = new DataView(NO_BUFFER);
  private memory: WasmMemory | null = null;

  bind(memory: WasmMemory): void {
    if (!(memory.buffer instanceof ArrayBuffer)) {
      throw new TypeError(
        "the guest's memory is shared between threads, which is not supported; build it without threads",
      );
    }
    this.memory = memory;
    this.renew();
  }

  /** To be called before each use. A memory that has grown leaves an empty buffer behind, so there is little to look at. */
  refresh(): void {
    if (this.bytes.length === 0) this.renew();
  }

  /** Gives the address as an unsigned number, if so many bytes lie there. */
  range(address: number, length: number): number {
    const start = address >>> 0;
    if (start + length > this.bytes.length) throw new FsError("EFAULT");
    return start;
  }

  u8(address: number): number {
    return this.view.getUint8(this.range(address, 1));
  }

  u16(address: number): number {
    return this.view.getUint16(this.range(address, 2), true);
  }

  u32(address: number): number {
    return this.view.getUint32(this.range(address, 4), true);
  }

  u64(address: number): bigint {
    return this.view.getBigUint64(this.range(address, 8), true);
  }

  setU8(address: number, value: number): void {
    this.view.setUint8(this.range(address, 1), value);
  }

  setU16(address: number, value: number): void {
    this.view.setUint16(this.range(address, 2), value, true);
  }

  setU32(address: number, value: number): void {
    this.view.setUint32(this.range(address, 4), value, true);
  }

  setU64(address: number, value: bigint): void {
    this.view.setBigUint64(this.range(address, 8), value, true);
  }

  /** Writes a whole number of up to 53 bits without making a bigint of it. */
  setSize(address: number, value: number): void {
    const start = this.range(address, 8);
    this.view.setUint32(start, value >>> 0, true);
    this.view.setUint32(start + 4, Math.floor(value / 2 ** 32), true);
  }

  /** Puts bytes there. */
  set(address: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, this.range(address, bytes.length));
  }

  /** A path or a name; one that is not UTF-8 could not be listed again, so it is refused. */
  text(address: number, length: number): string {
    const count = length >>> 0;
    const start = this.range(address, count);
    if (count > MAX_PATH_BYTES) throw new FsError("ENAMETOOLONG");
    try {
      return DECODER.decode(this.bytes.subarray(start, start + count));
    } catch {
      throw new FsError("EILSEQ");
    }
  }

  private renew(): void {
    if (this.memory === null) throw new Error("the host has no memory of a guest yet; call bind(memory) first");
    const { buffer } = this.memory;
    this.bytes = new Uint8Array(buffer);
    this.view = new DataView(buffer);
  }
}
