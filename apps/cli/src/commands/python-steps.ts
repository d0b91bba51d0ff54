import type { Screen } from "../terminal/frame-painter.js";
import { StatusLine } from "../terminal/status-line.js";

const TICK_MS = 1000;

/**
 * Says on standard error which step of a build is under way. On a terminal it is one line that counts the seconds and is gone at
 * the end; elsewhere each step is a line, for the log; `null` says nothing.
 */
export class BuildSteps implements Disposable {
  private readonly line: StatusLine;
  private readonly inLines: boolean;
  private readonly now: () => number;
  private readonly begun: number;
  private readonly ticking: NodeJS.Timeout | null;
  private step = "";

  constructor(where: Pick<Screen, "write" | "columns"> | "lines" | null, now = (): number => performance.now()) {
    this.now = now;
    this.begun = now();
    this.inLines = where === "lines";
    this.line = new StatusLine(where === "lines" ? null : where);
    this.ticking = where === null || where === "lines" ? null : setInterval(() => this.draw(), TICK_MS).unref();
  }

  readonly show = (step: string): void => {
    this.step = step;
    if (this.inLines) process.stderr.write(`${clockOf(this.now() - this.begun)}  ${step}\n`);
    else this.draw();
  };

  [Symbol.dispose](): void {
    if (this.ticking !== null) clearInterval(this.ticking);
    this.line[Symbol.dispose]();
  }

  private draw(): void {
    if (this.step !== "") this.line.show(`${clockOf(this.now() - this.begun)}  ${this.step}`);
  }
}

/** `2:05` for minutes and seconds. */
export function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
