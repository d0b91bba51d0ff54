import { parseLine, type Store } from "bursar";
import type { Moment } from "./moment.js";

type TellLink = (moment: Extract<Moment, { kind: "link" }>) => Promise<void>;

/** Follows a chain and tells every link once, in order. */
export class Tail {
  private readonly store: Store;
  private readonly chain: string;
  private readonly tell: TellLink;
  private next = 0;
  private reading: Promise<void> = Promise.resolve();

  constructor(store: Store, chain: string, tell: TellLink) {
    this.store = store;
    this.chain = chain;
    this.tell = tell;
  }

  /** Tells what was written since, and resolves when it has been told. */
  flush(): Promise<void> {
    this.reading = this.reading.then(() => this.read());
    return this.reading;
  }

  private async read(): Promise<void> {
    for await (const line of this.store.chain(this.chain, this.next)) {
      this.next++;
      await this.tell({ kind: "link", link: parseLine(line) });
    }
  }
}
