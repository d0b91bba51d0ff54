/** A map that forgets what was not used for the longest time, so that it cannot grow without bound. */
export class Bounded<Key, Value> {
  private readonly map = new Map<Key, Value>();
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  get(key: Key): Value | undefined {
    const value = this.map.get(key);
    if (value === undefined) return undefined;
    this.map.delete(key);
    this.map.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
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
