/** A map that forgets what was not used for the longest time, so that it cannot grow without bound. */
export class Bounded<Key, Value> {
  private readonly map = new Map<Key, Value>();
  private readonly most: number;
  private readonly below: Bounded<Key, Value> | undefined;

  /** What is not found here is looked for in the one below, and what is set here is set there too. */
  constructor(most: number, below?: Bounded<Key, Value>) {
    this.most = most;
    this.below = below;
  }

  get(key: Key): Value | undefined {
    const value = this.map.get(key);
    if (value === undefined) return this.below?.get(key);
    this.map.delete(key);
    this.map.set(key, value);
    return value;
  }

  /** `shared` says whether the one below is to know it. */
  set(key: Key, value: Value, shared = true): void {
    if (shared) this.below?.set(key, value);
    else this.below?.delete(key);
    this.map.delete(key);
    this.map.set(key, value);
    if (this.map.size > this.most) this.map.delete(this.map.keys().next().value as Key);
  }

  delete(key: Key): void {
    this.map.delete(key);
  }

  clear(): void {
    this.map.clear();
  }
}
