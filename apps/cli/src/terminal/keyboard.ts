/** What is needed of a terminal to read single keys from it. */
export interface KeySource {
  setRawMode(on: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: "data" | "end", listener: (data: Buffer) => void): unknown;
  off(event: "data" | "end", listener: (data: Buffer) => void): unknown;
}

const INTERRUPT = "\x03";

/**
 * Keys, one at a time and without an echo, so that what is typed while nobody asks leaves no trace on the screen.
 * Ctrl-C arrives here as a key.
 */
export class Keyboard implements Disposable {
  private readonly source: KeySource;
  private readonly interrupt: () => void;
  private waiting: ((key: string | null) => void) | null = null;

  constructor(source: KeySource, interrupt: () => void) {
    this.source = source;
    this.interrupt = interrupt;
    source.setRawMode(true);
    source.on("data", this.hear);
    source.on("end", this.close);
    source.resume();
  }

  /** The next of these keys that is pressed; null when there will be no more, or when the signal fires. */
  async press(keys: readonly string[], signal: AbortSignal): Promise<string | null> {
    signal.addEventListener("abort", this.close, { once: true });
    try {
      for (;;) {
        const key = await new Promise<string | null>((resolve) => {
          this.waiting = resolve;
          if (signal.aborted) resolve(null);
        });
        if (key === null || keys.includes(key)) return key;
      }
    } finally {
      this.waiting = null;
      signal.removeEventListener("abort", this.close);
    }
  }

  [Symbol.dispose](): void {
    this.source.off("data", this.hear);
    this.source.off("end", this.close);
    this.source.setRawMode(false);
    this.source.pause();
  }

  private readonly hear = (data: Buffer): void => {
    for (const key of data.toString("utf8").toLowerCase()) {
      if (key === INTERRUPT) this.interrupt();
      else this.waiting?.(key);
    }
  };

  private readonly close = (): void => {
    this.waiting?.(null);
  };
}
