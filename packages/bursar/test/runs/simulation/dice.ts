/** Chance that comes out the same for the same seed (mulberry32). */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** One of several. */
  pick<Value>(from: readonly [Value, ...Value[]]): Value {
    return from[this.below(from.length)] ?? from[0];
  }

  /** True so often of a hundred times. */
  chance(percent: number): boolean {
    return this.next() * 100 < percent;
  }
}
