import { unlessAborted } from "../app/unless-aborted.js";
import { ToolError } from "./said.js";

/** So many may wait at the same time: each holds its code in memory. */
const MOST_WAITING = 16;

/** Lets those who name the same thing follow each other, in the order in which they came. */
export class Turns {
  private readonly last = new Map<string, Promise<void>>();
  private waiting = 0;

  /** Waits for a turn, which lasts until it is disposed of. Whoever is cancelled while he waits gives up his place alone. */
  async wait(name: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.waiting >= MOST_WAITING) {
      throw new ToolError(
        `${MOST_WAITING} calls of yours are under way or wait, the most allowed.`,
        "wait until one has ended.",
      );
    }
    const before = this.last.get(name) ?? Promise.resolve();
    let end = () => {};
    const own = new Promise<void>((resolve) => {
      end = resolve;
    });
    // Whoever gives up must not let the next one in before those ahead are done.
    const over = before.then(() => own);
    this.last.set(name, over);
    void over.then(() => this.last.get(name) === over && this.last.delete(name));
    this.waiting++;
    try {
      await unlessAborted(before, signal);
    } catch (error) {
      end();
      throw error;
    } finally {
      this.waiting--;
    }
    return { [Symbol.dispose]: end };
  }
}
