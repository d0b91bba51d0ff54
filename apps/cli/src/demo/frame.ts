import type { Position } from "bursar/views";
import { legend, renderBars } from "../render/bars.js";
import { clip, pad, type Style, widthOf } from "../render/style.js";
import type { Underway } from "./underway.js";

/** What the live part of the screen shows. */
export interface Scene {
  readonly positions: readonly Position[];
  readonly underway: Underway;
  /** What whoever watches is asked. */
  readonly question: string | null;
  /** Counts up, so that something turns while calls are in flight. */
  readonly tick: number;
}

const TITLE = "limits on the run";
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** The live part of the screen: a legend, one bar for each dimension, and what is going on. */
export function renderFrame(scene: Scene, columns: number, rows: number, style: Style): readonly string[] {
  if (scene.positions.length === 0) return [];
  const top = titled(TITLE, legend(scene.positions, style), columns, style);
  const lines = ["", top, ...renderBars(scene.positions, columns, style), `  ${status(scene, style)}`];
  // A terminal that is too low keeps what changes most: the last lines.
  return lines.slice(-Math.max(1, rows - 1)).map((line) => clip(line, columns));
}

/** What stays on the screen when the run has ended. */
export function renderLast(positions: readonly Position[], columns: number, style: Style): readonly string[] {
  const lines = ["", titled(TITLE, legend(positions, style), columns, style)];
  return [...lines, ...renderBars(positions, columns, style)].map((line) => clip(line, columns));
}

function titled(title: string, note: string, columns: number, style: Style): string {
  const left = `  ${title}`;
  const room = columns - widthOf(note);
  return room <= widthOf(left) ? style.dim(left) : `${style.dim(pad(left, room))}${note}`;
}

function status({ underway, question, tick }: Scene, style: Style): string {
  if (question !== null) return style.bold(question);
  const { inFlight, waiting } = underway;
  const parts: string[] = [];
  if (inFlight.length > 0) parts.push(`${style.accent(SPINNER[tick % SPINNER.length] ?? "")} ${inFlight.join(", ")}`);
  if (waiting.length > 0) parts.push(style.warn(`waiting: ${waiting.join(", ")}`));
  return parts.join("   ");
}
