import { clip, harmless } from "../render/style.js";
import type { Screen } from "./frame-painter.js";

const CLEAR = "\r\x1b[K";

/** One line on standard error that says what is being done, and is gone at the end. Without a terminal there is none. */
export class StatusLine implements Disposable {
  private readonly screen: Pick<Screen, "write" | "columns"> | null;
  private drawn = false;

  constructor(screen: Pick<Screen, "write" | "columns"> | null) {
    this.screen = screen;
  }

  readonly show = (text: string): void => {
    if (this.screen === null) return;
    this.drawn = true;
    this.screen.write(`${CLEAR}${clip(`  ${harmless(text)} …`, this.screen.columns() - 1)}`);
  };

  [Symbol.dispose](): void {
    if (this.drawn) this.screen?.write(CLEAR);
  }
}
