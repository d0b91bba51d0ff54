interface Work {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Work that nobody waits for: so much of it at the same time, and the rest in turn. */
export class Background {
  private readonly most: number;
  private readonly changed: () => void;
  private readonly going: Work[] = [];
  private readonly waiting: Work[] = [];

  constructor(most: number, changed: () => void) {
    this.most = most;
    this.changed = changed;
  }

  /** What is under way or waits, by name. */
  get names(): readonly string[] {
    return [...new Set([...this.going, ...this.waiting].map(({ name }) => name))];
  }

  /** `run` says itself what has failed. */
  add(name: string, run: () => Promise<void>): void {
    this.waiting.push({ name, run });
    this.next();
  }

  /** What has not begun will not. */
  close(): void {
    this.waiting.length = 0;
  }

  private next(): void {
    const work = this.going.length < this.most ? this.waiting.shift() : undefined;
    if (work !== undefined) {
      this.going.push(work);
      void work.run().finally(() => {
        this.going.splice(this.going.indexOf(work), 1);
        this.next();
      });
    }
    this.changed();
  }
}
