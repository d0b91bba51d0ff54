import { randomFillSync } from "node:crypto";

/** The host's randomness, or bytes that depend on a seed alone. */
export type RandomOption = "real" | { readonly kind: "seeded"; readonly seed: string };

/** The state of seeded randomness: four 32-bit words. */
export type SavedRandom = readonly number[];

/** As many bytes as the host's source is asked for at once. */
const SLICE = 1024 * 1024;
const WARM_UP = 16;

/** Random bytes for a guest. Seeded ones come from sfc32, which is fast and repeatable, and not meant for secrets. */
export class HostRandom {
  private words: Uint32Array | null;

  constructor(option: RandomOption, saved?: SavedRandom | null) {
    this.words = option === "real" ? null : seeded(option.seed);
    if (this.words !== null && saved?.length === this.words.length) this.words = Uint32Array.from(saved);
  }

  /** Starts over from another seed, or with the host's randomness, so that copies of a guest differ. */
  reseed(option: RandomOption): void {
    this.words = option === "real" ? null : seeded(option.seed);
  }

  fill(bytes: Uint8Array, start: number, length: number): void {
    if (this.words === null) {
      for (let at = 0; at < length; at += SLICE) randomFillSync(bytes, start + at, Math.min(SLICE, length - at));
      return;
    }
    let word = 0;
    for (let at = 0; at < length; at++) {
      word = at % 4 === 0 ? next(this.words) : word >>> 8;
      bytes[start + at] = word;
    }
  }

  save(): SavedRandom | null {
    return this.words === null ? null : [...this.words];
  }
}

function seeded(seed: string): Uint32Array {
  const words = Uint32Array.from([hash(seed, 1), hash(seed, 2), hash(seed, 3), 1]);
  for (let round = 0; round < WARM_UP; round++) next(words);
  return words;
}

function hash(text: string, salt: number): number {
  let value = Math.imul(salt, 0x9e3779b1) ^ 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value ^ (value >>> 15);
}

function next(words: Uint32Array): number {
  const [a = 0, b = 0, c = 0, counter = 0] = words;
  const result = (a + b + counter) >>> 0;
  words[0] = b ^ (b >>> 9);
  words[1] = c + (c << 3);
  words[2] = ((c << 21) | (c >>> 11)) + result;
  words[3] = counter + 1;
  return result;
}
