import { MOST_CHARACTERS, MOST_ELEMENTS, type Pure } from "./pure.js";
import { listOf, type Spend, Unknown, type Value } from "./value.js";

const ofTexts =
  (compute: (...texts: readonly string[]) => Value | undefined): Pure =>
  (args, spend) => {
    if (!args.every((value) => typeof value === "string")) return undefined;
    for (const text of args) spend(text.length >> 6);
    return compute(...(args as readonly string[]));
  };

/** A value as a text shows it; undefined for what is not a plain one. */
function plain(value: Value): string | undefined {
  if (value === null) return "";
  if (typeof value === "object") return undefined;
  return String(value);
}

function strung(values: readonly Value[], between: string, spend: Spend): string | undefined {
  const parts: string[] = [];
  let size = 0;
  for (const value of values) {
    const part = plain(value);
    size += (part?.length ?? 0) + between.length;
    if (part === undefined || size > MOST_CHARACTERS) return undefined;
    spend(1 + (part.length >> 6));
    parts.push(part);
  }
  return parts.join(between);
}

/** What is cut out of a text is counted by characters. */
function cut([text = null, start = null, end = null]: readonly Value[], count: number): string | undefined {
  if (typeof text !== "string" || text.length > MOST_CHARACTERS) return undefined;
  const all = [...text];
  const [from, to] = [start, count === 2 ? all.length : end];
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) return undefined;
  const [first, last] = [from as number, to as number];
  return first < 0 || first > last || last > all.length ? undefined : all.slice(first, last).join("");
}

function replaced(text: string, from: string, to: string): string | undefined {
  if (from === "") return undefined;
  const parts = text.split(from);
  return text.length + parts.length * to.length > MOST_CHARACTERS ? undefined : parts.join(to);
}

/** Texts, by the names that the guest has for what is done with them. */
export const TEXTS: Readonly<Record<string, Pure>> = {
  str: (args, spend) => strung(args, "", spend),
  join: (args, spend) => {
    const list = listOf(args.at(-1) ?? null);
    const between = args.length === 2 ? args[0] : "";
    return list === null || typeof between !== "string" ? undefined : strung(list, between, spend);
  },
  split: ofTexts((text = "", between = "") => {
    const parts = between === "" ? [...text] : text.split(between);
    return parts.length > MOST_ELEMENTS ? undefined : parts;
  }),
  splitLines: ofTexts((text = "") => {
    const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
    return lines.length > MOST_ELEMENTS ? undefined : lines;
  }),
  trim: ofTexts((text = "") => text.trim()),
  upperCase: ofTexts((text = "") => text.toUpperCase()),
  lowerCase: ofTexts((text = "") => text.toLowerCase()),
  replace: ofTexts((text = "", from = "", to = "") => replaced(text, from, to)),
  startsWith: ofTexts((text = "", part = "") => text.startsWith(part)),
  endsWith: ofTexts((text = "", part = "") => text.endsWith(part)),
  isBlank: ([text = null]) => {
    if (text === null) return true;
    return typeof text === "string" ? text.trim() === "" : undefined;
  },
  subs: (args, spend) => {
    const [text] = args;
    if (typeof text === "string") spend(text.length >> 6);
    return cut(args, args.length);
  },
  name: ofTexts((text = "") => text),
  println: () => null,
  includes: ([inside = null, part = null], spend) => {
    if (typeof inside !== "string" || typeof part !== "string") return undefined;
    spend(inside.length >> 6);
    return inside.includes(part);
  },
  parseNumber: ofTexts((text = "") => {
    const trimmed = text.trim();
    const value = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
    const isExact = /[.eE]/.test(trimmed) || Number.isSafeInteger(value);
    return Number.isFinite(value) && isExact ? value + 0 : null;
  }),
  // Who prints something that is not known, or throws it, is none the wiser for it here.
  toJson: ([value = null]) => (value instanceof Unknown ? undefined : scalarJson(value)),
};

function scalarJson(value: Value): string | undefined {
  return typeof value === "object" && value !== null ? undefined : JSON.stringify(value);
}
