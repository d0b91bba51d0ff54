import type { Store } from "../../ports/store.js";

/** Longer than any process waits for one answer; it only has to be there. */
const A_DAY_MS = 86_400_000;

/**
 * Keeps the process alive for as long as somebody waits for an answer, and no longer: a program that knows nothing of its budget
 * must end when it is done, though the store behind the budget is still open.
 */
export class Awake {
  private waiting = 0;
  private timer: NodeJS.Timeout | null = null;

  /** Waits for something. */
  async during<Value>(answer: Promise<Value>): Promise<Value> {
    this.waiting++;
    this.timer ??= setInterval(() => {}, A_DAY_MS);
    try {
      return await answer;
    } finally {
      this.waiting--;
      if (this.waiting === 0) this.rest();
    }
  }

  /** The same store; all that is asked of it is waited for. */
  over(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          const given: unknown = value.apply(target, args);
          return given instanceof Promise ? this.during(given) : given;
        };
      },
    });
  }

  private rest(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }
}
