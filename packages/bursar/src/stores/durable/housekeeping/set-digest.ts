import { sha256Hex } from "../../../runtime/crypto.js";

const DIGITS = 12;
const MODULUS = 16 ** DIGITS;

/**
 * Tells whether two lists hold the same texts, in whatever order each is read, with the memory of a few numbers. The salt is new for
 * every check, so that no texts can be made beforehand that come to the same.
 */
export class SetDigest {
  private readonly salt: string;
  private readonly sums: [number, number, number] = [0, 0, 0];

  constructor(salt: string) {
    this.salt = salt;
  }

  add(text: string): void {
    this.count(text, 1);
  }

  remove(text: string): void {
    this.count(text, -1);
  }

  equals(other: SetDigest): boolean {
    return this.sums.every((sum, at) => sum === other.sums[at]);
  }

  private count(text: string, sign: 1 | -1): void {
    const hash = sha256Hex(this.salt + text);
    for (let at = 0; at < this.sums.length; at++) {
      const part = Number.parseInt(hash.slice(at * DIGITS, (at + 1) * DIGITS), 16);
      const more = sign === 1 || part === 0 ? part : MODULUS - part;
      this.sums[at as 0 | 1 | 2] = ((this.sums[at] as number) + more) % MODULUS;
    }
  }
}
