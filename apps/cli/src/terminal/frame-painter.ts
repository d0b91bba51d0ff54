import { widthOf } from "../render/style.js";

/** Where a frame is drawn. */
export interface FrameScreen {
  readonly write: (text: string) => void;
  readonly columns: () => number;
}

/** The same, with its height. */
export interface Screen extends FrameScreen {
  readonly rows: () => number;
}

export const HIDE_CURSOR = "\x1b[?25l";
export const SHOW_CURSOR = "\x1b[?25h";
/** Terminals that know these show what is between them at once; the others ignore them. */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
const CLEAR_LINE_AFTER = "\x1b[K";
const CLEAR_AFTER = "\x1b[J";

/** Lines that stay, and below them a frame that is drawn over and over in its place. */
export class FramePainter implements Disposable {
  private readonly screen: FrameScreen;
  /** The lines of the last frame, as they stand on the screen; the cursor is at the end of the last one. */
  private drawn: readonly string[] = [];
  private hidden = false;

  constructor(screen: FrameScreen) {
    this.screen = screen;
  }

  /** One column is left free: a line that fills the last one would leave the cursor between two lines. */
  get columns(): number {
    return Math.max(1, this.screen.columns() - 1);
  }

  /** Whether a frame stands on the screen. */
  get isDrawn(): boolean {
    return this.drawn.length > 0;
  }

  /**
   * Writes lines that stay where the frame was, and a new frame below them: over the old one, line by line, without clearing
   * anything first, so that nothing flickers.
   */
  show(lines: readonly string[], frame: readonly string[]): void {
    if (lines.length === 0 && isSame(frame, this.drawn)) return;
    const cursor =
      frame.length > 0 && !this.hidden ? HIDE_CURSOR : frame.length === 0 && this.hidden ? SHOW_CURSOR : "";
    this.hidden = frame.length > 0;
    const stay = lines.map((line) => `${line}${CLEAR_LINE_AFTER}\n`).join("");
    const drawn = frame.map((line) => `${line}${CLEAR_LINE_AFTER}`).join("\n");
    this.screen.write(`${BEGIN_FRAME}${cursor}${this.home()}${stay}${drawn}${CLEAR_AFTER}${END_FRAME}`);
    this.drawn = frame;
  }

  /** Takes the frame off the screen, and leaves the cursor where it was. */
  [Symbol.dispose](): void {
    if (this.isDrawn || this.hidden) this.show([], []);
  }

  /** Moves the cursor to where the frame begins. A terminal made narrower since has broken its lines. */
  private home(): string {
    const columns = Math.max(1, this.screen.columns());
    const rows = this.drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return rows > 1 ? `\r\x1b[${rows - 1}A` : "\r";
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}
