/** The few ways text is set off. Without colour every one of them gives the text back as it is. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly warn: Paint;
  readonly bad: Paint;
  readonly accent: Paint;
  /** A mark on a filled part of a bar. */
  readonly marked: (text: string, paint: "good" | "warn" | "bad") => string;
  readonly colour: boolean;
}

type Paint = (text: string) => string;

const CODES = { bold: 1, dim: 2, bad: 31, good: 32, warn: 33, accent: 36 } as const;
const BLACK = 30;
const TO_BACKGROUND = 10;

export function styleFor(colour: boolean): Style {
  const paint = (code: number, end: number): Paint => {
    return colour ? (text) => (text === "" ? "" : `\x1b[${code}m${text}\x1b[${end}m`) : (text) => text;
  };
  return {
    bold: paint(CODES.bold, 22),
    dim: paint(CODES.dim, 22),
    good: paint(CODES.good, 39),
    warn: paint(CODES.warn, 39),
    bad: paint(CODES.bad, 39),
    accent: paint(CODES.accent, 39),
    marked: (text, on) => (colour ? `\x1b[${BLACK};${CODES[on] + TO_BACKGROUND}m${text}\x1b[39;49m` : text),
    colour,
  };
}

/** Whether to write colours. FORCE_COLOR is heard first, then NO_COLOR, then whether anybody is looking. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: term } = env;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (refused !== undefined && refused !== "") return false;
  return isTerminal && term !== "dumb";
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const ESCAPES = /\x1b\[[0-9;?]*[A-Za-z]/g;

/** How many columns a text takes. Everything the demo writes is one column wide. */
export function widthOf(text: string): number {
  return [...text.replace(ESCAPES, "")].length;
}

/** Cuts a text to a number of columns and says so with an ellipsis; colours that are open are closed. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns <= 0) return "";
  let room = columns - 1;
  let cut = "";
  let at = 0;
  for (const code of [...text.matchAll(ESCAPES), null]) {
    const chunk = [...text.slice(at, code?.index)].slice(0, room);
    cut += chunk.join("");
    room -= chunk.length;
    if (room === 0 || code === null) break;
    cut += code[0];
    at = code.index + code[0].length;
  }
  return `${cut}…${text.includes("\x1b[") ? "\x1b[0m" : ""}`;
}

/** A name in a column of a table: cut where lines have an end, and whole where they have none, as in a pipe or a file. */
export function fitted(text: string, most: number, columns: number): string {
  return columns === Number.POSITIVE_INFINITY ? text : clip(text, most);
}

/** Fills a text up with spaces to a number of columns. */
export function pad(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** Breaks words into lines of at most so many columns. A word that is longer than a line gets one of its own. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Marks that change the order in which a line is shown, so that people would approve something other than they read. */
const REORDERING = /[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The output of a program that is not trusted: its lines as they are, but nothing that a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "�").replace(REORDERING, "�");
}

/** A text from outside, without what a terminal would obey. */
export function harmless(text: string): string {
  return text.replace(/\p{Cc}/gu, "�").replace(REORDERING, "�");
}
