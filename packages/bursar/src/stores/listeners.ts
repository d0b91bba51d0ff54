/** Who wants to know when amounts may have become free. */
export class Listeners {
  private readonly registered = new Set<() => void>();

  get size(): number {
    return this.registered.size;
  }

  add(listener: () => void): Disposable {
    // A wrapper of its own, so that the same function can be registered twice and each be taken back.
    const registered = () => listener();
    this.registered.add(registered);
    return { [Symbol.dispose]: () => void this.registered.delete(registered) };
  }

  tell(): void {
    for (const listener of this.registered) queueMicrotask(() => this.registered.has(listener) && listener());
  }

  clear(): void {
    this.registered.clear();
  }
}
