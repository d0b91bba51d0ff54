import { parseLine, type Store } from "bursar";
import type { Tell } from "./moment.js";

/** Follows a chain and tells every link once, in order, soon after it was written. */
export class Tail implements Disposable {
  private readonly store: Store;
  private readonly chain: string;
  private readonly tell: Tell;
  private readonly watching: Disposable;
  private next = 0;
  private reading: Promise<void> = Promise.resolve();

  constructor(store: Store, chain: string, tell: Tell) {
    this.store = store;
    this.chain = chain;
    this.tell = tell;
    // A failure is met again by whoever flushes.
    this.watching = store.watch(() => void this.flush().catch(() => {}));
  }

  /** Resolves when everything written so far has been told. */
  flush(): Promise<void> {
    this.reading = this.reading.then(() => this.read());
    return this.reading;
  }

  [Symbol.dispose](): void {
    this.watching[Symbol.dispose]();
  }

  private async read(): Promise<void> {
    for await (const line of this.store.chain(this.chain, this.next)) {
      this.next++;
      await this.tell({ kind: "link", link: parseLine(line) });
    }
  }
}
