import type { Store } from "../ports/store.js";

/** A line of a chain, exactly as it was hashed. */
export interface ChainLine {
  readonly seq: number;
  readonly line: string;
}

export type LinesListener = (lines: readonly ChainLine[]) => void | Promise<void>;

/** So many of the last lines are kept for those who read along, and no more characters than this. */
const MOST_KEPT = 1000;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** So many are handed out at once. */
const MOST_AT_ONCE = 500;

/**
 * The end of a chain, read once for everybody who wants to see it grow. Whoever is slow is not waited for, and nothing is
 * kept for him: he reads what he has missed from the store.
 */
export class Tail {
  private readonly store: Store;
  private readonly chain: string;
  private readonly readers = new Set<Reader>();
  private recent: ChainLine[] = [];
  private characters = 0;
  /** The position after the last line that was read; null before the first look. */
  private end: number | null = null;
  private reading: Promise<void> | null = null;
  private again = false;

  constructor(store: Store, chain: string) {
    this.store = store;
    this.chain = chain;
  }

  get size(): number {
    return this.readers.size;
  }

  /** Hands out every line from a position on, in order and each once, now and whenever there are more. */
  read(from: number, listener: LinesListener, failed: (error: unknown) => void): Disposable {
    const reader = new Reader(from, listener, (at) => this.linesFrom(at), failed);
    this.readers.add(reader);
    reader.wake();
    return {
      [Symbol.dispose]: () => {
        reader.stop();
        this.readers.delete(reader);
      },
    };
  }

  /** Reads what is new. Asked while it reads, it reads once more afterwards. */
  look(): Promise<void> {
    this.again = true;
    this.reading ??= this.work().finally(() => {
      this.reading = null;
    });
    return this.reading;
  }

  private async work(): Promise<void> {
    while (this.again) {
      this.again = false;
      if (await this.advance()) for (const reader of this.readers) reader.wake();
    }
  }

  private async advance(): Promise<boolean> {
    const next = ((await this.store.head(this.chain))?.seq ?? -1) + 1;
    if (this.end === null || next - this.end > MOST_KEPT) {
      // What is new is more than would be kept: everybody reads it from the store.
      this.drop(next);
      return true;
    }
    const before = this.end;
    if (next > before) {
      for await (const line of this.store.chain(this.chain, before)) this.add(line);
    }
    return this.end > before;
  }

  private drop(end: number): void {
    this.recent = [];
    this.characters = 0;
    this.end = end;
  }

  private add(line: string): void {
    const seq = this.end ?? 0;
    this.recent.push({ seq, line });
    this.end = seq + 1;
    this.characters += line.length;
    while (this.recent.length > MOST_KEPT || (this.recent.length > 1 && this.characters > MOST_CHARACTERS)) {
      this.characters -= this.recent.shift()?.line.length ?? 0;
    }
  }

  private async linesFrom(from: number): Promise<readonly ChainLine[]> {
    if (this.end !== null && from >= this.end) return [];
    const first = this.recent[0]?.seq;
    if (first !== undefined && from >= first) return this.recent.slice(from - first, from - first + MOST_AT_ONCE);
    const lines: ChainLine[] = [];
    let characters = 0;
    for await (const line of this.store.chain(this.chain, from)) {
      lines.push({ seq: from + lines.length, line });
      characters += line.length;
      if (lines.length === MOST_AT_ONCE || characters > MOST_CHARACTERS) break;
    }
    return lines;
  }
}

/** One who reads along, at his own pace. */
class Reader {
  private next: number;
  private readonly listener: LinesListener;
  private readonly linesFrom: (at: number) => Promise<readonly ChainLine[]>;
  private readonly failed: (error: unknown) => void;
  private running = false;
  private woken = false;
  private stopped = false;

  constructor(
    from: number,
    listener: LinesListener,
    linesFrom: (at: number) => Promise<readonly ChainLine[]>,
    failed: (error: unknown) => void,
  ) {
    this.next = from;
    this.listener = listener;
    this.linesFrom = linesFrom;
    this.failed = failed;
  }

  wake(): void {
    this.woken = true;
    if (this.running || this.stopped) return;
    this.running = true;
    // After a fault the next look wakes him again.
    void this.pump()
      .catch(this.failed)
      .finally(() => {
        this.running = false;
      });
  }

  stop(): void {
    this.stopped = true;
  }

  private async pump(): Promise<void> {
    while (this.woken && !this.stopped) {
      this.woken = false;
      for (let lines = await this.linesFrom(this.next); lines.length > 0; lines = await this.linesFrom(this.next)) {
        if (this.stopped) return;
        await this.listener(lines);
        this.next += lines.length;
      }
    }
  }
}
