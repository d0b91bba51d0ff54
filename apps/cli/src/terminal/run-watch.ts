import { type Link, parseLine, type RunRecord, type Store } from "bursar";
import { Problems, positionsFor, runOutlook } from "bursar/views";
import { runBars, worthwhile } from "../render/run-bars.js";
import { RunNarrator } from "../render/run-lines.js";
import { clip, type Style } from "../render/style.js";
import { FramePainter, type FrameScreen } from "./frame-painter.js";

const FRAME_MS = 100;
const PLAIN_MS = 250;
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
/** A store that fails is asked again by those who drive the run; whoever only looks waits a little longer. */
const AFTER_FAULT_MS = 1000;

export interface WatchingOptions {
  readonly store: Store;
  readonly run: RunRecord;
  readonly style: Style;
  readonly write: (text: string) => void;
  /** Where bars are drawn; null where nobody would see them move. */
  readonly screen: FrameScreen | null;
  /** Which links have been told before. */
  readonly from: number;
}

/** Shows what happens in a run while it happens: every link of its chain as a line, and on a terminal its limits as bars. */
export class Watching {
  private readonly options: WatchingOptions;
  private readonly narrator: RunNarrator;
  private readonly painter: FramePainter | null;
  private readonly problems: Problems;
  private next: number;
  private tick = 0;
  private timer: NodeJS.Timeout | null = null;
  private turn: Promise<void> = Promise.resolve();

  constructor(options: WatchingOptions) {
    this.options = options;
    this.narrator = new RunNarrator(options.style);
    this.painter = options.screen === null ? null : new FramePainter(options.screen);
    this.problems = new Problems(options.store);
    this.next = options.from;
  }

  /** Whether bars stand below what is written. */
  get isDrawing(): boolean {
    return this.painter !== null && this.timer !== null;
  }

  /** Lets somebody else write whole lines: the bars are gone meanwhile, and come back below them. */
  aside(write: () => void): void {
    this.painter?.show([], []);
    write();
  }

  start(): void {
    this.timer ??= setTimeout(() => void this.beat(), 0);
  }

  /** Tells all that has happened, takes the bars off the screen, and looks no more until it is started again. */
  async rest(): Promise<void> {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.timer = null;
    await this.turn;
    await this.look(false).catch(() => {});
  }

  private async beat(): Promise<void> {
    let wait = this.painter === null ? PLAIN_MS : FRAME_MS;
    this.turn = this.look(true).catch(() => {
      wait = AFTER_FAULT_MS;
    });
    await this.turn;
    if (this.timer !== null) this.timer = setTimeout(() => void this.beat(), wait);
  }

  private async look(draws: boolean): Promise<void> {
    const lines: string[] = [];
    const links = await this.newLinks();
    const problems = await this.problems.of(links);
    for (const link of links) lines.push(...this.narrator.tell(link, problems.get(String(link.data.step_id))));
    const { write } = this.options;
    if (this.painter !== null) this.painter.show(lines, draws ? await this.frame(this.painter.columns) : []);
    else if (lines.length > 0) write(lines.map((line) => `${line}\n`).join(""));
  }

  private async newLinks(): Promise<readonly Link[]> {
    const { store, run } = this.options;
    const links: Link[] = [];
    for await (const line of store.chain(run.budget, this.next)) {
      this.next++;
      links.push(parseLine(line));
    }
    return links;
  }

  private async frame(columns: number): Promise<readonly string[]> {
    const { store, run, style } = this.options;
    const positions = worthwhile(await positionsFor(store, run));
    const { inFlight } = this.narrator;
    const turning = style.accent(SPINNER[this.tick++ % SPINNER.length] ?? "");
    const status = `  ${turning} ${inFlight.length === 0 ? style.dim("computing") : inFlight.join(", ")}`;
    const outlook = await runOutlook(store, run.id);
    const ahead = outlook === null ? [] : [clip(`  ${style.warn(outlook)}`, columns)];
    return ["", ...runBars(positions, columns, style), ...ahead, clip(status, columns)];
  }
}
