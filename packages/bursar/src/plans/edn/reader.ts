import type { Position } from "../plan-error.js";
import type { Source } from "../source.js";
import { readCharacter, readWord } from "./atoms.js";
import { Cursor } from "./cursor.js";
import type { Form } from "./form.js";
import { ESCAPES, print, printShort, UNSEEN } from "./print.js";

/** Bounds on what is read at all, so that no text can make whoever reads it run out of anything. */
const MOST_CHARACTERS = 262_144;
const MOST_FORMS = 50_000;
export const DEEPEST = 100;

/** What no text may hold: what nobody can see, apart from line ends and tabs, and halves of characters. */
const HIDDEN = new RegExp(`(?![\\t\\n\\r])(?:${UNSEEN.source}|\\p{Cs})`, "u");

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "#{": "}" };

/** What Clojure has and EDN does not, and what to write instead. */
const FOREIGN: Readonly<Record<string, string>> = {
  "'": "nothing has to be quoted: write a vector, a keyword or a text",
  "`": "there are no macros",
  "~": "there are no macros",
  "@": "values do not change, so there is nothing to look into",
  "^": "leave the metadata out",
  "#(": "write (fn [x] …)",
  "#'": "write the name alone",
  '#"': "there are no regular expressions; see split, replace and includes?",
  "##": "numbers are finite",
  "#?": "leave the condition out",
  "#!": "a comment begins with a semicolon",
};

/** Reads all forms of a text. Whatever is not EDN through and through is an error at its place. */
export function readForms(source: Source): readonly Form[] {
  refuseUnseen(source);
  const reader = new Reader(source);
  const forms: Form[] = [];
  for (let form = reader.read(0); form !== null; form = reader.read(0)) forms.push(form);
  reader.expectEnd();
  return forms;
}

function refuseUnseen(source: Source): void {
  const { text } = source;
  if (text.length > MOST_CHARACTERS) {
    const problem = `the text has ${text.length} characters; at most ${MOST_CHARACTERS} are read`;
    throw source.error({ line: 1, column: 1 }, problem, "divide it into several plans");
  }
  if (!HIDDEN.test(text)) return;
  const cursor = new Cursor(source);
  cursor.takeUntil((character) => HIDDEN.test(character));
  const { next, position } = cursor;
  if (/\p{Cs}/u.test(next)) throw source.error(position, "half a character", "save the file as UTF-8");
  const code = `\\u${next.charCodeAt(0).toString(16).padStart(4, "0")}`;
  throw source.error(position, `a character that nobody can see (${code})`, `in a text, write ${code}`);
}

class Reader {
  private readonly source: Source;
  private readonly cursor: Cursor;
  private count = 0;

  constructor(source: Source) {
    this.source = source;
    this.cursor = new Cursor(source);
  }

  /** The next form; null before a closing bracket and at the end. */
  read(depth: number): Form | null {
    const { cursor, source } = this;
    if (depth > DEEPEST) {
      throw source.error(
        cursor.position,
        `nested more than ${DEEPEST} deep`,
        "give parts of it names, with let or defn",
      );
    }
    this.skip(depth);
    const { position, next } = cursor;
    if (cursor.atEnd || isCloser(next)) return null;
    this.count++;
    if (this.count > MOST_FORMS) {
      throw source.error(position, `more than ${MOST_FORMS} forms`, "divide it into several plans");
    }
    if (next === "(") return { kind: "list", items: this.items("(", depth), ...position };
    if (next === "[") return { kind: "vector", items: this.items("[", depth), ...position };
    if (next === "{") return { kind: "map", entries: this.entries(depth), ...position };
    if (next === '"') return { kind: "text", value: this.text(), ...position };
    if (next === "#") return this.dispatch(depth, position);
    if (next === "\\") return this.character(position);
    const hint = FOREIGN[next];
    if (hint !== undefined) throw source.error(position, `${next} means nothing here`, hint);
    return readWord(cursor.takeUntil(isBoundary), position, source);
  }

  expectEnd(): void {
    const { cursor, source } = this;
    if (!cursor.atEnd) throw source.error(cursor.position, `${cursor.next} closes nothing`, "take it out");
  }

  /** Passes over blanks, comments, and forms that are crossed out with `#_`. */
  private skip(depth: number): void {
    const { cursor, source } = this;
    for (;;) {
      cursor.takeUntil((character) => !isBlank(character));
      if (cursor.next === ";") {
        cursor.takeUntil((character) => character === "\n");
      } else if (cursor.startsWith("#_")) {
        const { position } = cursor;
        cursor.take();
        cursor.take();
        if (this.read(depth + 1) === null) throw source.error(position, "#_ crosses out nothing", "take it out");
      } else {
        return;
      }
    }
  }

  private items(opener: string, depth: number): readonly Form[] {
    const { cursor, source } = this;
    const { position } = cursor;
    for (const _ of opener) cursor.take();
    const items: Form[] = [];
    for (let item = this.read(depth + 1); item !== null; item = this.read(depth + 1)) items.push(item);
    const closer = CLOSERS[opener] ?? "";
    if (cursor.atEnd) throw source.error(position, `${opener} is never closed`, `add ${closer} where it ends`);
    if (cursor.next !== closer) {
      const opened = `${opener} at ${position.line}:${position.column}`;
      throw source.error(cursor.position, `${cursor.next} where ${closer} should close the ${opened}`);
    }
    cursor.take();
    return items;
  }

  private entries(depth: number): readonly (readonly [Form, Form])[] {
    const items = this.items("{", depth);
    const entries: (readonly [Form, Form])[] = [];
    for (let index = 0; index < items.length; index += 2) {
      const [key, value] = [items[index], items[index + 1]];
      if (key === undefined) continue;
      if (value === undefined) throw this.source.error(key, `the key ${printShort(key)} has no value`);
      entries.push([key, value]);
    }
    this.refuseRepeats(
      entries.map(([key]) => key),
      "key",
    );
    return entries;
  }

  private dispatch(depth: number, position: Position): Form {
    const { cursor, source } = this;
    if (cursor.startsWith("#{")) {
      const items = this.items("#{", depth);
      this.refuseRepeats(items, "element");
      return { kind: "set", items, ...position };
    }
    cursor.take();
    const hint = FOREIGN[`#${cursor.next}`];
    if (hint !== undefined) throw source.error(position, `#${cursor.next} means nothing here`, hint);
    const tag = cursor.takeUntil(isBoundary).slice(0, 40);
    throw source.error(position, `the tag #${tag} is not known`, "write the value itself, as a text or a map");
  }

  private refuseRepeats(forms: readonly Form[], what: string): void {
    const seen = new Map<string, Form>();
    for (const form of forms) {
      const text = print(form);
      const before = seen.get(text);
      if (before !== undefined) {
        const place = `${before.line}:${before.column}`;
        throw this.source.error(form, `the ${what} ${printShort(form)} was given at ${place} already`, "give it once");
      }
      seen.set(text, form);
    }
  }

  private character(position: Position): Form {
    const { cursor, source } = this;
    cursor.take();
    // A comma is a blank everywhere but here.
    if (cursor.atEnd || (cursor.next !== "," && isBlank(cursor.next))) {
      throw source.error(position, "a backslash with no character", "write \\space for a blank");
    }
    const word = cursor.take() + cursor.takeUntil(isBoundary);
    return readCharacter(word, position, source);
  }

  private text(): string {
    const { cursor, source } = this;
    const { position } = cursor;
    cursor.take();
    let value = "";
    while (cursor.next !== '"') {
      value += cursor.takeUntil((character) => character === '"' || character === "\\");
      if (cursor.atEnd) throw source.error(position, "this text is never closed", 'add " where it ends');
      if (cursor.next === "\\") value += this.escape();
    }
    cursor.take();
    if (/\p{Cs}/u.test(value)) throw source.error(position, "this text holds half a character");
    return value;
  }

  private escape(): string {
    const { cursor, source } = this;
    const { position } = cursor;
    cursor.take();
    const mark = cursor.take();
    const known = Object.hasOwn(ESCAPES, mark) ? ESCAPES[mark] : undefined;
    if (known !== undefined) return known;
    let digits = "";
    while (mark === "u" && digits.length < 4 && /[0-9a-fA-F]/.test(cursor.next)) digits += cursor.take();
    if (digits.length === 4) return String.fromCharCode(Number.parseInt(digits, 16));
    const marks = Object.keys(ESCAPES).join(" ");
    throw source.error(position, `\\${mark}${digits} stands for nothing`, `behind \\ goes one of ${marks}, or u0041`);
  }
}

function isBlank(character: string): boolean {
  return character === " " || character === "," || character === "\n" || character === "\t" || character === "\r";
}

function isCloser(character: string): boolean {
  return character === ")" || character === "]" || character === "}";
}

function isBoundary(character: string): boolean {
  return isBlank(character) || isCloser(character) || "([{;'`~@^".includes(character);
}
