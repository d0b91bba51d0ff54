import type { Position } from "bursar/views";
import { legend, renderBars } from "../render/bars.js";
import type { Style } from "../render/style.js";
import { jsonLine } from "./json-line.js";
import type { Moment } from "./moment.js";
import { Narrator } from "./narrator.js";

/** Where moments are shown. */
export interface View extends Disposable {
  show(moment: Moment): Promise<void>;
  /** Puts a question to whoever watches; null when it has been answered. */
  ask(question: string | null): Promise<void>;
}

export type Write = (text: string) => void;

/** Reads where the run's budget stands now. */
export type ReadPositions = () => Promise<readonly Position[]>;

/** The moment at which the figures of the run are final. */
export function endsRun(moment: Moment): boolean {
  return moment.kind === "link" && moment.link.action_type === "RunEnded";
}

const PLAIN_COLUMNS = 80;

/** Lines of text, for logs and pipes: the bars are shown once, when the run has ended. */
export class PlainView implements View {
  private readonly write: Write;
  private readonly style: Style;
  private readonly positions: ReadPositions;
  private readonly narrator: Narrator;

  constructor(write: Write, style: Style, positions: ReadPositions) {
    this.write = write;
    this.style = style;
    this.positions = positions;
    this.narrator = new Narrator(style);
  }

  async show(moment: Moment): Promise<void> {
    const lines = [...this.narrator.tell(moment)];
    if (endsRun(moment)) {
      const positions = await this.positions();
      lines.push("", `  ${legend(positions, this.style)}`, ...renderBars(positions, PLAIN_COLUMNS, this.style));
    }
    if (lines.length > 0) this.write(`${lines.join("\n")}\n`);
  }

  async ask(question: string | null): Promise<void> {
    this.write(question === null ? "\n" : `  ${question} `);
  }

  [Symbol.dispose](): void {}
}

/** One JSON object a line, for programs. */
export class JsonView implements View {
  private readonly write: Write;

  constructor(write: Write) {
    this.write = write;
  }

  async show(moment: Moment): Promise<void> {
    this.write(`${jsonLine(moment)}\n`);
  }

  async ask(): Promise<void> {}

  [Symbol.dispose](): void {}
}
