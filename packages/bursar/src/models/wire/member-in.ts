import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, endOfString, isName, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./text-scan.js";

/**
 * Some members of the object that a JSON text stands for, without parsing the others. Undefined where they cannot be told from the
 * outside, as of what is no object, is cut off, or spells a name in another way.
 */
export function membersIn(text: string, names: readonly string[]): JsonObject | undefined {
  const found = new Look(text, names).values();
  if (found === undefined) return undefined;
  const members: Record<string, Json> = {};
  try {
    for (const [name, value] of found) members[name] = JSON.parse(value) as Json;
    return members;
  } catch {
    return undefined;
  }
}

/** One look at the text, from string to string. Of several members of one name the last counts, as for whoever parses it. */
class Look {
  private readonly text: string;
  private readonly names: readonly string[];
  private readonly hasEscapes: boolean;
  private readonly found = new Map<string, string>();
  private depth = 0;
  /** The member that is looked at, if it is one of those that are wanted, and where its value begins. */
  private wanted: string | null = null;
  private start = 0;

  constructor(text: string, names: readonly string[]) {
    this.text = text;
    this.names = names;
    this.hasEscapes = text.includes("\\");
  }

  values(): ReadonlyMap<string, string> | undefined {
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
    const { text, names } = this;
    const last = endOfString(text, at);
    if (this.depth !== 1 || !isName(text, last)) return last;
    if (this.hasEscapes && text.slice(at, last).includes("\\")) return text.length;
    const length = last - at - 1;
    const wanted = names.find((name) => name.length === length && text.startsWith(name, at + 1));
    if (wanted !== undefined) {
      this.wanted = wanted;
      this.start = text.indexOf(":", last) + 1;
    }
    return last;
  }

  private end(at: number): void {
    if (this.wanted !== null) this.found.set(this.wanted, this.text.slice(this.start, at));
    this.wanted = null;
  }
}

/** How much deeper it is behind a character. */
function stepOf(code: number): number {
  if (code === OPEN_OBJECT || code === OPEN_LIST) return 1;
  return code === CLOSE_OBJECT || code === CLOSE_LIST ? -1 : 0;
}
