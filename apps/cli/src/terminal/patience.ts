import { clip } from "../render/style.js";
import type { Screen } from "./frame-painter.js";

interface Timer {
  after(ms: number, run: () => void): Disposable;
}

/** Of its own: to load a library for it would make people wait. */
const TIMER: Timer = {
  after(ms, run) {
    const timeout = setTimeout(run, ms);
    return { [Symbol.dispose]: () => clearTimeout(timeout) };
  },
};

const BEAT_MS = 1000;
const CLEAR = "\r\x1b[K";

/** After a second, a line that says what is being waited for and how long already; gone when it is over. */
export class Patience implements Disposable {
  private readonly screen: Pick<Screen, "write" | "columns"> | null;
  private readonly what: string;
  private readonly timer: Timer;
  private next: Disposable | null = null;
  private beats = 0;

  /** Where nobody looks, there is no screen and nothing to say. */
  constructor(screen: Pick<Screen, "write" | "columns"> | null, what: string, timer: Timer = TIMER) {
    this.screen = screen;
    this.what = what;
    this.timer = timer;
    if (screen !== null) this.wait();
  }

  [Symbol.dispose](): void {
    this.next?.[Symbol.dispose]();
    this.next = null;
    if (this.beats > 0) this.screen?.write(CLEAR);
    this.beats = 0;
  }

  private wait(): void {
    this.next = this.timer.after(BEAT_MS, () => {
      this.beats++;
      const line = `  ${this.what} … ${this.beats} s`;
      this.screen?.write(`${CLEAR}${clip(line, this.screen.columns() - 1)}`);
      this.wait();
    });
  }
}
