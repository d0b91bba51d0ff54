import { engine, type WasmMemory } from "@bursar/wasm-fuel";
import { layFrom, type Pages } from "./pages.js";

const PAGE = 4096;
const WASM_PAGE = 65_536;
/** So many wait to be used again; each takes as much as the image. */
const MOST_SPARE = 2;

/**
 * Memories that hold an image, for guests that start from it. Filling a new one takes the system longer than anything else
 * that a new guest needs, because it has to find every page of it. So one that a guest has left is used again, after every
 * byte of it was compared with the image and is as there.
 */
export class Memories {
  private readonly base: Uint8Array;
  private readonly image: Pages;
  private readonly maximum: number;
  private readonly spare: WasmMemory[] = [];

  /** `base` is the image as a whole memory; no memory grows beyond `maximum` pages. */
  constructor(base: Uint8Array, image: Pages, maximum: number) {
    this.base = base;
    this.image = image;
    this.maximum = maximum;
  }

  take(): WasmMemory {
    const { size } = this.image;
    const used = this.spare.pop();
    if (used !== undefined) {
      restore(new Uint8Array(used.buffer), this.base);
      return used;
    }
    const memory = new engine.Memory({ initial: size, maximum: Math.max(size, this.maximum) });
    // Only what is not zero: memory that nobody has touched costs nothing.
    layFrom(this.base, this.image, new Uint8Array(memory.buffer));
    return memory;
  }

  /** Takes a memory back that nothing uses any more. One that has grown cannot be made smaller, and is left to be collected. */
  give(memory: WasmMemory): void {
    if (memory.buffer.byteLength !== this.image.size * WASM_PAGE || this.spare.length >= MOST_SPARE) return;
    if (!this.spare.includes(memory)) this.spare.push(memory);
  }
}

/** Makes a memory what the base is. Most of it is so already, and is only looked at. */
function restore(memory: Uint8Array, base: Uint8Array): void {
  const now = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  const before = Buffer.from(base.buffer, base.byteOffset, base.byteLength);
  for (let start = 0; start < now.length; start += WASM_PAGE) {
    if (now.compare(before, start, start + WASM_PAGE, start, start + WASM_PAGE) === 0) continue;
    for (let at = start; at < start + WASM_PAGE; at += PAGE) {
      if (now.compare(before, at, at + PAGE, at, at + PAGE) !== 0) memory.set(base.subarray(at, at + PAGE), at);
    }
  }
}
