import type { Topic } from "../ports/store.js";

/** Listeners of a store, by what they are told of: that amounts may have become free, or that a run may have been queued. */
export class Listeners {
  private readonly registered: Readonly<Record<Topic, Set<() => void>>> = { amounts: new Set(), runs: new Set() };

  get size(): number {
    return this.registered.amounts.size + this.registered.runs.size;
  }

  has(topic: Topic): boolean {
    return this.registered[topic].size > 0;
  }

  add(listener: () => void, topic: Topic = "amounts"): Disposable {
    const listeners = this.registered[topic];
    // A wrapper of its own, so that the same function can be registered twice and each be taken back.
    const registered = () => listener();
    listeners.add(registered);
    return { [Symbol.dispose]: () => void listeners.delete(registered) };
  }

  /** Tells those of one topic; all of them where it is not known what has changed. */
  tell(topic?: Topic): void {
    for (const each of topic === undefined ? (["amounts", "runs"] as const) : [topic]) {
      const listeners = this.registered[each];
      for (const listener of listeners) queueMicrotask(() => listeners.has(listener) && listener());
    }
  }

  clear(): void {
    for (const listeners of Object.values(this.registered)) listeners.clear();
  }
}
