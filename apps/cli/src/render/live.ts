import type { Moment } from "../demo/moment.js";
import { renderFrame, renderLast } from "./frame.js";
import { Narrator } from "./plain.js";
import { type Style, widthOf } from "./style.js";
import { follow, IDLE, type Underway } from "./underway.js";
import { endsRun, type ReadPositions, type View, type Write } from "./view.js";

/** What the live view needs of a terminal. */
export interface Screen {
  readonly write: Write;
  readonly columns: () => number;
  readonly rows: () => number;
}

const FRAME_MS = 80;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** Terminals that know these show what is between them at once; the others ignore them. */
const BEGIN_FRAME = "\x1b[?2026h";
const END_FRAME = "\x1b[?2026l";
const CLEAR_LINE_AFTER = "\x1b[K";
const CLEAR_AFTER = "\x1b[J";

/** Lines that stay, above bars that are redrawn in place. */
export class LiveView implements View {
  private readonly screen: Screen;
  private readonly style: Style;
  private readonly positions: ReadPositions;
  private readonly narrator: Narrator;
  private readonly timer: NodeJS.Timeout;
  private underway: Underway = IDLE;
  private question: string | null = null;
  private tick = 0;
  /** The lines of the last frame, as they stand on the screen; the cursor is at the end of the last one. */
  private drawn: readonly string[] = [];
  private ended = false;

  constructor(screen: Screen, style: Style, positions: ReadPositions) {
    this.screen = screen;
    this.style = style;
    this.positions = positions;
    this.narrator = new Narrator(style);
    this.screen.write(HIDE_CURSOR);
    this.timer = setInterval(() => void this.beat(), FRAME_MS);
    this.timer.unref();
  }

  async show(moment: Moment): Promise<void> {
    this.underway = follow(this.underway, moment);
    const lines = this.narrator.tell(moment);
    if (endsRun(moment)) await this.finish(lines);
    else await this.draw(lines);
  }

  async ask(question: string | null): Promise<void> {
    this.question = question;
    await this.draw([]);
    this.screen.write(question === null ? HIDE_CURSOR : SHOW_CURSOR);
  }

  /** Leaves the last frame where it is, and the cursor below it. */
  [Symbol.dispose](): void {
    clearInterval(this.timer);
    if (!this.ended && this.drawn.length > 0) this.screen.write("\n");
    this.ended = true;
    this.screen.write(SHOW_CURSOR);
  }

  private async beat(): Promise<void> {
    if (this.ended) return;
    this.tick++;
    await this.draw([]);
  }

  private async finish(lines: readonly string[]): Promise<void> {
    const last = renderLast(await this.positions(), this.columns(), this.style);
    this.replace([...lines, ...last], []);
    this.ended = true;
  }

  private async draw(lines: readonly string[]): Promise<void> {
    if (this.ended) {
      if (lines.length > 0) this.screen.write(`${lines.join("\n")}\n`);
      return;
    }
    const { underway, question, tick } = this;
    const scene = { positions: await this.positions(), underway, question, tick };
    if (this.ended) return;
    const frame = renderFrame(scene, this.columns(), this.screen.rows(), this.style);
    if (lines.length > 0) this.replace(lines, frame);
    else this.redraw(frame);
  }

  /** Writes lines that stay where the frame was, and a new frame below them. */
  private replace(lines: readonly string[], frame: readonly string[]): void {
    const stay = lines.map((line) => `${line}\n`).join("");
    this.screen.write(`${BEGIN_FRAME}${this.home()}${CLEAR_AFTER}${stay}${frame.join("\n")}${END_FRAME}`);
    this.drawn = frame;
  }

  /** Writes over the frame, line by line, without clearing anything first, so that nothing flickers. */
  private redraw(frame: readonly string[]): void {
    const same = frame.length === this.drawn.length && frame.every((line, index) => line === this.drawn[index]);
    if (same) return;
    const text = frame.map((line) => `${line}${CLEAR_LINE_AFTER}`).join("\n");
    this.screen.write(`${BEGIN_FRAME}${this.home()}${text}${CLEAR_AFTER}${END_FRAME}`);
    this.drawn = frame;
  }

  /** Moves the cursor to where the frame begins. A terminal made narrower since has broken its lines. */
  private home(): string {
    const columns = Math.max(1, this.screen.columns());
    const rows = this.drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return rows > 1 ? `\r\x1b[${rows - 1}A` : "\r";
  }

  /** One column is left free: a line that fills the last one would leave the cursor between two lines. */
  private columns(): number {
    return Math.max(1, this.screen.columns() - 1);
  }
}
