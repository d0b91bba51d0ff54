import type { Json } from "../../core/chain/canonical.js";
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, endOfString, isName, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./text-scan.js";

/**
 * One member of the object that a JSON text stands for, without parsing the others: null where there is none. Undefined where that
 * cannot be told from the outside, as of what is no object, is cut off, or spells a name in another way.
 */
export function memberIn(text: string, name: string): Json | undefined {
  const value = new Look(text, name).value();
  if (value === undefined || value === null) return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return undefined;
  }
}

/** One look at the text, from string to string. Of several members of one name the last counts, as for whoever parses it. */
class Look {
  private readonly text: string;
  private readonly name: string;
  private readonly hasEscapes: boolean;
  private found: string | null = null;
  private depth = 0;
  /** Where the value begins that is looked for; -1 outside of it. */
  private start = -1;

  constructor(text: string, name: string) {
    this.text = text;
    this.name = name;
    this.hasEscapes = text.includes("\\");
  }

  value(): string | null | undefined {
    const { text } = this;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        at = this.pass(at);
        continue;
      }
      this.depth += stepOf(code);
      if (this.depth === 0 || (this.depth === 1 && code === COMMA)) this.end(at);
      // What is no object has no members.
      if (this.depth === 1 && code === OPEN_LIST) return undefined;
      if (this.depth === 0 && code === CLOSE_OBJECT) return text.slice(at + 1).trim() === "" ? this.found : undefined;
    }
    return undefined;
  }

  /** Passes a string, and says where it ends: behind the whole text if it has a name that is spelt in another way. */
  private pass(at: number): number {
    const { text, name } = this;
    const last = endOfString(text, at);
    if (this.depth !== 1 || !isName(text, last)) return last;
    if (this.hasEscapes && text.slice(at, last).includes("\\")) return text.length;
    const isWanted = last - at - 1 === name.length && text.startsWith(name, at + 1);
    if (isWanted) this.start = text.indexOf(":", last) + 1;
    return last;
  }

  private end(at: number): void {
    if (this.start >= 0) this.found = this.text.slice(this.start, at);
    this.start = -1;
  }
}

/** How much deeper it is behind a character. */
function stepOf(code: number): number {
  if (code === OPEN_OBJECT || code === OPEN_LIST) return 1;
  return code === CLOSE_OBJECT || code === CLOSE_LIST ? -1 : 0;
}
