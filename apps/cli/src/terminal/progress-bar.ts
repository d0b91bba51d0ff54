import type { Progress } from "bursar/store";
import { number } from "../render/quantities.js";
import { clip } from "../render/style.js";
import type { Screen } from "./frame-painter.js";

const FRAME_MS = 100;
const CELLS = 24;
const CLEAR = "\r\x1b[K";

/** A bar on standard error, redrawn in place and gone at the end. Without a terminal there is none. */
export class ProgressBar implements Disposable {
  private readonly screen: Pick<Screen, "write" | "columns"> | null;
  private next = performance.now() + FRAME_MS;
  private drawn = false;

  constructor(screen: Pick<Screen, "write" | "columns"> | null) {
    this.screen = screen;
  }

  readonly show = ({ what, done, total }: Progress): void => {
    const now = performance.now();
    if (this.screen === null || now < this.next) return;
    this.next = now + FRAME_MS;
    this.drawn = true;
    this.screen.write(`${CLEAR}${clip(line(what, done, total), this.screen.columns() - 1)}`);
  };

  [Symbol.dispose](): void {
    if (this.drawn) this.screen?.write(CLEAR);
  }
}

function line(what: string, done: number, total: number): string {
  if (total <= 0) return `  ${what}  ${number(done)}`;
  const share = Math.min(1, done / total);
  const filled = Math.floor(share * CELLS);
  const bar = `${"█".repeat(filled)}${"░".repeat(CELLS - filled)}`;
  return `  ${what.padEnd(7)} ${bar} ${`${Math.floor(share * 100)} %`.padStart(5)}  ${number(done)} of ${number(total)}`;
}
