/*
 * SHA-256 (FIPS 180-4). A browser has its own only on pages that it calls secure, which a server in the next room without a
 * certificate is not; and it gives a promise for each text, which takes longer than to hash a link.
 */

const ROUNDS = 64;
const BLOCK_BYTES = 64;
const encoder = new TextEncoder();
const schedule = new Int32Array(ROUNDS);
const [K, H] = constants();

/** SHA-256 in lowercase hex over the text's UTF-8 bytes. */
export function sha256Hex(text: string): string {
  const bytes = padded(encoder.encode(text));
  const view = new DataView(bytes.buffer);
  const state = Int32Array.from(H);
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) compress(state, view, at);
  let hex = "";
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, "0");
  return hex;
}

/** A one, zeros, and the length in bits, so that the whole is a number of blocks. */
function padded(bytes: Uint8Array): Uint8Array {
  const length = Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  const whole = new Uint8Array(length);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const view = new DataView(whole.buffer);
  view.setUint32(length - 8, Math.floor(bytes.length / 0x2000_0000));
  view.setUint32(length - 4, (bytes.length << 3) >>> 0);
  return whole;
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function at(words: Int32Array, index: number): number {
  return words[index] as number;
}

function compress(state: Int32Array, view: DataView, offset: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < ROUNDS; i++) {
    const a = at(schedule, i - 15);
    const b = at(schedule, i - 2);
    const s0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3);
    const s1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10);
    schedule[i] = (at(schedule, i - 16) + s0 + at(schedule, i - 7) + s1) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(K, i) + at(schedule, i)) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (at(state, i) + word) | 0;
}

type Eight = [number, number, number, number, number, number, number, number];

/** The first 32 bits of the fractional parts of the cube and square roots of the first primes: nothing up the sleeve. */
function constants(): [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) | 0;
  return [
    Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
    Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
  ];
}
