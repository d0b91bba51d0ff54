import { BursarError } from "../core/errors.js";
import { type Place, printPlace } from "./place.js";
import { type Excerpt, tame } from "./source.js";

/** One thing that is wrong in a configuration, and what to do about it. */
export interface Problem {
  /** What it is about, from the top: `governance.policies.default.budgets.steps`. */
  readonly field: string;
  /** A sentence that begins with the field. */
  readonly message: string;
  /** Null for what was not written in a text, such as an override that a program gives. */
  readonly place: Place | null;
  readonly excerpt: Excerpt | null;
}

/** A configuration that cannot be used, with everything that is wrong in it. Nothing of it is in effect. */
export class ConfigError extends BursarError {
  override readonly name: string = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super("config_invalid", problems.map(printProblem).join("\n"));
    this.problems = problems;
  }
}

/** A problem as people read it: the place, the sentence, and the line with a caret below. */
export function printProblem({ message, place, excerpt }: Problem): string {
  const told = tame(message);
  if (place === null) return told;
  const title = `${tame(printPlace(place))}: ${told}`;
  if (excerpt === null) return title;
  const number = place.line === null ? "" : String(place.line);
  const margin = " ".repeat(number.length);
  const caret = `${" ".repeat(excerpt.column - 1)}${"^".repeat(excerpt.length)}`;
  return `${title}\n  ${number} | ${excerpt.text}\n  ${margin} | ${caret}`;
}
