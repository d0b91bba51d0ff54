import type { Style } from "../render/style.js";
import { FramePainter, HIDE_CURSOR, type Screen, SHOW_CURSOR } from "../terminal/frame-painter.js";
import { renderFrame, renderLast } from "./frame.js";
import type { Moment } from "./moment.js";
import { Narrator } from "./narrator.js";
import { follow, IDLE, type Underway } from "./underway.js";
import { endsRun, type ReadPositions, type View } from "./view.js";

const FRAME_MS = 80;
/** Lines that stay, above bars that are redrawn in place. */
export class LiveView implements View {
  private readonly screen: Screen;
  private readonly style: Style;
  private readonly positions: ReadPositions;
  private readonly narrator: Narrator;
  private readonly painter: FramePainter;
  private readonly timer: NodeJS.Timeout;
  private underway: Underway = IDLE;
  private question: string | null = null;
  private tick = 0;
  private ended = false;

  constructor(screen: Screen, style: Style, positions: ReadPositions) {
    this.screen = screen;
    this.style = style;
    this.positions = positions;
    this.narrator = new Narrator(style);
    this.painter = new FramePainter(screen);
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
    if (!this.ended && this.painter.isDrawn) this.screen.write("\n");
    this.ended = true;
    this.screen.write(SHOW_CURSOR);
  }

  private async beat(): Promise<void> {
    if (this.ended) return;
    this.tick++;
    await this.draw([]);
  }

  private async finish(lines: readonly string[]): Promise<void> {
    const last = renderLast(await this.positions(), this.painter.columns, this.style);
    this.painter.show([...lines, ...last], []);
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
    this.painter.show(lines, renderFrame(scene, this.painter.columns, this.screen.rows(), this.style));
  }
}
