export const QUOTE = 34;
export const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const CAPITAL_E = 69;
const SMALL_E = 101;
const BACKSLASH = 92;
export const OPEN_LIST = 91;
export const CLOSE_LIST = 93;
export const OPEN_OBJECT = 123;
export const CLOSE_OBJECT = 125;
const SPACE = 32;

/** A member takes so many characters at least: `"":1,`. */
const SHORTEST_MEMBER = 5;
/** So that nobody can choose names that are taken for others. */
const SEED = (Math.random() * 2 ** 32) | 0;
const PRIME = 16_777_619;

/** A member of a shape that was not seen before takes the engine as long as so many others. */
const SHAPE_MEMBERS = 8;

/** How much of an engine's work a text may be. */
export interface TextBounds {
  /** So many shapes are taken whatever else there is. */
  readonly shapes: number;
  /** More of them are taken if all its members take no longer than so many of known shapes: 0 unless it is said. */
  readonly members?: number;
}

/** What can be said of a JSON text before it is parsed. */
export interface TextScan {
  /** Whether it is nested too deeply, or its objects have too many shapes. */
  readonly problem: "deep" | "shapes" | null;
  /** How many of its numbers are written with an exponent. */
  readonly exponents: number;
}

/**
 * Whether a JSON text is nested deeper than so many levels. It is asked before the text is parsed, because to build half a million
 * lists inside of each other takes a hundred times as long as to count their brackets.
 */
export function isDeeper(text: string, levels: number): boolean {
  return scan(text, levels, null).problem === "deep";
}

/**
 * Looks at a JSON text before it is parsed: whether it is nested deeper than so many levels, or its objects have too many shapes. A
 * shape is an object's names in their order, and what every further name makes of it: the engine keeps a record of each,
 * which takes it longer than all the rest. Conversations have a few hundred, however long they are; tools and the forms of answers
 * have one for every parameter, and are short beside that.
 */
export function scanText(text: string, levels: number, bounds: TextBounds): TextScan {
  const most = Math.floor(text.length / SHORTEST_MEMBER);
  return scan(text, levels, most < bounds.shapes ? null : new Shapes(levels, bounds, most));
}

function scan(text: string, levels: number, shapes: Shapes | null): TextScan {
  let depth = 0;
  let exponents = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (shapes !== null && isName(text, end) && shapes.add(depth, text, at + 1, end)) {
        return { problem: "shapes", exponents };
      }
      at = end;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > levels) return { problem: "deep", exponents };
      shapes?.begin(depth);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
    // Small and capital; other words of JSON have one too, and then there is no number before it.
    else if ((code === SMALL_E || code === CAPITAL_E) && isDigit(text.charCodeAt(at - 1))) exponents++;
  }
  return { problem: null, exponents };
}

/** Counts the shapes of objects, by hashes of their names. */
class Shapes {
  /** The shape of the object at each level, as far as its names are known. */
  private readonly levels: Int32Array;
  /** Those seen so far, each where its hash points to or behind it; 0 where there is none. */
  private readonly seen: Int32Array;
  private readonly few: number;
  private readonly work: number;
  private count = 0;
  private members = 0;

  /** There are at most so many of them in the text. */
  constructor(levels: number, { shapes, members = 0 }: TextBounds, inText: number) {
    const most = Math.min(inText, Math.max(shapes, Math.ceil(members / SHAPE_MEMBERS)));
    this.levels = new Int32Array(levels + 1);
    this.seen = new Int32Array(2 ** (Math.ceil(Math.log2(most + 1)) + 1));
    this.few = shapes;
    this.work = members;
  }

  begin(depth: number): void {
    this.levels[depth] = SEED;
  }

  /** Adds the name that stands there to the object at a level; true when those are too many shapes. */
  add(depth: number, text: string, start: number, end: number): boolean {
    const { seen } = this;
    let shape = this.levels[depth] ?? SEED;
    for (let at = start; at < end; at++) shape = Math.imul(shape ^ text.charCodeAt(at), PRIME);
    // The end of a name is no letter, so that "ab" and "c" are not "a" and "bc".
    shape = Math.imul(shape ^ QUOTE, PRIME);
    this.levels[depth] = shape;
    this.members++;
    const mixed = shape ^ (shape >>> 15) || 1;
    let place = mixed & (seen.length - 1);
    while (seen[place] !== 0) {
      if (seen[place] === mixed) return this.isTooMuch;
      place = (place + 1) & (seen.length - 1);
    }
    seen[place] = mixed;
    this.count++;
    return this.isTooMuch;
  }

  private get isTooMuch(): boolean {
    return this.count > this.few && this.members + this.count * SHAPE_MEMBERS > this.work;
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Whether the string that ends here is the name of a member. */
export function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= SPACE) at++;
  return text.charCodeAt(at) === COLON;
}

/** Where the string that begins here ends. A text without an end is none that can be parsed, so anything does. */
export function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
