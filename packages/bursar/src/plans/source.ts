import { PlanError, type Position } from "./plan-error.js";

/** The text of a plan and the name of where it came from. */
export class Source {
  readonly file: string;
  readonly text: string;

  constructor(file: string, text: string) {
    this.file = file;
    // Some editors begin every file with a mark that is no part of the text.
    this.text = text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  /** What is wrong at a place, to be thrown. */
  error({ line, column }: Position, problem: string, hint: string | null = null): PlanError {
    return new PlanError({ file: this.file, text: this.text, position: { line, column }, problem, hint });
  }
}
