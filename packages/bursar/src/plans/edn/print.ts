import type { Form } from "./form.js";

/** A form as text that reads as the same form. */
export function print(form: Form): string {
  switch (form.kind) {
    case "nil":
      return "nil";
    case "boolean":
      return String(form.value);
    case "number":
      return printNumber(form.value);
    case "text":
      return `"${[...form.value].map(escaped).join("")}"`;
    case "character":
      return printCharacter(form.value);
    case "keyword":
      return `:${form.name}`;
    case "symbol":
      return form.name;
    case "list":
      return `(${form.items.map(print).join(" ")})`;
    case "vector":
      return `[${form.items.map(print).join(" ")}]`;
    case "set":
      return `#{${form.items.map(print).join(" ")}}`;
    case "map":
      return `{${form.entries.map(([key, value]) => `${print(key)} ${print(value)}`).join(" ")}}`;
  }
}

/** Beyond what is exact a number is written with an exponent, because digits alone would promise too much. */
function printNumber(value: number): string {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER ? value.toExponential() : String(value);
}

const LONGEST = 40;

/** A form for an error message. */
export function printShort(form: Form): string {
  const text = print(form);
  return text.length > LONGEST ? `${[...text].slice(0, LONGEST).join("")}…` : text;
}

/** The characters that have a name of their own. */
export const CHARACTERS: Readonly<Record<string, string>> = {
  newline: "\n",
  return: "\r",
  space: " ",
  tab: "\t",
  formfeed: "\f",
  backspace: "\b",
};

/** What stands for a character after a backslash in a text. */
export const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  f: "\f",
  b: "\b",
  '"': '"',
  "\\": "\\",
};

/** What a reader of the text would not see, or see elsewhere: controls, and marks that turn the direction of writing. */
export const UNSEEN: RegExp = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;

function escaped(character: string): string {
  const known = Object.entries(ESCAPES).find(([, each]) => each === character);
  if (known !== undefined) return `\\${known[0]}`;
  return UNSEEN.test(character) ? unicode(character) : character;
}

function printCharacter(character: string): string {
  const known = Object.entries(CHARACTERS).find(([, each]) => each === character);
  if (known !== undefined) return `\\${known[0]}`;
  return UNSEEN.test(character) || /\s/u.test(character) ? `\\${unicode(character).slice(1)}` : `\\${character}`;
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
