import { BursarError } from "../core/errors.js";

/** A place in a plan's text: both count from 1, and a column is a character, not a byte. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a plan, and where. */
export interface Complaint {
  readonly file: string;
  readonly text: string;
  readonly position: Position;
  readonly problem: string;
  readonly hint: string | null;
}

/** A plan that cannot be compiled. The message holds the line it is about, with a caret below the place. */
export class PlanError extends BursarError {
  override readonly name: string = "PlanError";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
  readonly hint: string | null;

  constructor({ file, text, position, problem, hint }: Complaint) {
    const { line, column } = position;
    const shown = printable(file).slice(0, LONGEST_FILE);
    const advice = hint === null ? "" : `; ${hint}`;
    super("invalid_plan", `${shown}:${line}:${column} ${problem}${advice}\n${excerpt(text, position)}`);
    this.file = file;
    this.line = line;
    this.column = column;
    this.problem = problem;
    this.hint = hint;
  }
}

const LONGEST_FILE = 200;
const WIDEST = 100;
const BEFORE = 60;

/** The line a position is in, cut to what a terminal can show, and a caret below the place. */
function excerpt(text: string, { line, column }: Position): string {
  const whole = [...printable(lineOf(text, line))];
  const start = column > WIDEST ? column - BEFORE : 0;
  const cut = whole.slice(start, start + WIDEST);
  const [left, right] = [start > 0 ? "…" : "", whole.length > start + WIDEST ? "…" : ""];
  const margin = `${line} | `;
  const blank = " ".repeat(margin.length - 2 + left.length + column - 1 - start);
  return `  ${margin}${left}${cut.join("")}${right}\n  ${" ".repeat(margin.length - 2)}| ${blank.slice(margin.length - 2)}^`;
}

function lineOf(text: string, line: number): string {
  let start = 0;
  for (let number = 1; number < line; number++) start = text.indexOf("\n", start) + 1;
  const end = text.indexOf("\n", start);
  return text.slice(start, end === -1 ? text.length : end);
}

/** Plans come from anybody: what would steer a terminal, or turn the direction of writing, is shown as a blank. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
}
