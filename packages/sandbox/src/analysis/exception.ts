import type { Language } from "./facts.js";
import { isDigit, isNameCharacter } from "./text.js";

/** An exception as an interpreter reports it: `FileNotFoundError: [Errno 44] No such file or directory: '/etc/passwd'`. */
export interface Exception {
  readonly name: string;
  readonly message: string;
}

/** Where an exception stands in the text; it is cut out only when it turns out to be the one that matters. */
interface Place {
  readonly start: number;
  readonly nameEnd: number;
  readonly end: number;
}

/** An interpreter reports last what ended it, so a longer text is read from here before its end. */
const TAIL = 65_536;
const MOST_NAME = 200;
const MOST_MESSAGE = 2_000;
const MOST_CAUSES = 16;

/** What ends the name of an exception, where no traceback shows that it is one. */
const ENDINGS: readonly string[] = ["Error", "Exception", "Interrupt", "Exit", "Iteration"];
const IGNORED = "Exception ignored in";
/** What Python writes before an exception that ends nothing, and between one and the next that it led to. */
const ANNOUNCEMENTS: readonly string[] = [
  IGNORED,
  "During handling of the above exception",
  "The above exception was the direct cause",
];
/** What stands before an exception that nobody has caught, depending on who reports it. */
const PREFIXES: readonly string[] = [
  "Uncaught (in promise) ",
  "Uncaught ",
  "Unhandled promise rejection: ",
  "Possibly unhandled promise rejection: ",
];

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const DOT = 0x2e;
const COLON = 0x3a;

/**
 * The exception that ended a program, and those that led to it, the last one first. Everything before belongs to
 * exceptions that were handled, or is text that only looks like one. Reads every character of the tail a bounded number
 * of times: the text is the guest's, and may be as long and as nasty as it likes.
 */
export function exceptionsIn(stderr: string, language: Language): readonly Exception[] {
  const found = new Causes();
  let afterTraceback = false;
  for (let start = firstLine(stderr); start < stderr.length; ) {
    const end = lineEnd(stderr, start);
    const head = stderr.charCodeAt(start);
    const indented = head === SPACE || head === TAB;
    if (!indented && start < end) {
      const place = placeIn(stderr, start, end, afterTraceback);
      if (place === null) found.pass(stderr, start);
      else found.add(place);
    }
    afterTraceback = indented && language === "python";
    start = end + 1;
  }
  return found.places.map((place) => exceptionAt(stderr, place));
}

/** The exception that was read last, with those that led to it. */
class Causes {
  places: readonly Place[] = [];
  #linked = false;
  #ignored = false;

  /** An exception in a destructor is reported like any other, but ends nothing. */
  add(place: Place): void {
    if (!this.#ignored) this.places = this.#linked ? [place, ...this.places.slice(0, MOST_CAUSES - 1)] : [place];
    this.#linked = false;
    this.#ignored = false;
  }

  /** A line that is no exception, but may say something about the next one. */
  pass(text: string, start: number): void {
    const announced = firstOf(ANNOUNCEMENTS, text, start);
    if (announced === IGNORED) this.#ignored = true;
    else if (announced !== null) this.#linked = true;
  }
}

/** The first line that is wholly in the tail. */
function firstLine(text: string): number {
  return text.length <= TAIL ? 0 : lineEnd(text, text.length - TAIL) + 1;
}

/** Which of these a line begins with. Most lines differ in their first character, and looking at it is cheap. */
function firstOf(beginnings: readonly string[], text: string, start: number): string | null {
  const head = text.charCodeAt(start);
  for (const beginning of beginnings) {
    if (beginning.charCodeAt(0) === head && text.startsWith(beginning, start)) return beginning;
  }
  return null;
}

function lineEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== NEWLINE) at++;
  return at;
}

/** A dotted name at the beginning of a line, then a colon or nothing; behind a traceback any name will do. */
function placeIn(text: string, lineStart: number, end: number, afterTraceback: boolean): Place | null {
  const start = lineStart + (firstOf(PREFIXES, text, lineStart)?.length ?? 0);
  const nameEnd = dottedNameEnd(text, start, Math.min(end, start + MOST_NAME));
  const next = text.charCodeAt(nameEnd);
  const closed = nameEnd === end || next === COLON || next === CARRIAGE_RETURN;
  if (nameEnd === start || !closed) return null;
  return afterTraceback || hasTellingEnd(text, start, nameEnd) ? { start, nameEnd, end } : null;
}

function dottedNameEnd(text: string, start: number, most: number): number {
  if (isDigit(text.charCodeAt(start))) return start;
  let at = start;
  while (at < most && (isNameCharacter(text.charCodeAt(at)) || text.charCodeAt(at) === DOT)) at++;
  return at;
}

function hasTellingEnd(text: string, start: number, end: number): boolean {
  for (const ending of ENDINGS) {
    if (end - start >= ending.length && text.endsWith(ending, end)) return true;
  }
  return false;
}

function exceptionAt(text: string, { start, nameEnd, end }: Place): Exception {
  const name = text.slice(start, nameEnd);
  const message = text.slice(nameEnd + 1, Math.min(end, nameEnd + 1 + MOST_MESSAGE)).trim();
  return { name, message };
}
