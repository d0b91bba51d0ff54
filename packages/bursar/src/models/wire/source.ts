import { Buffer } from "node:buffer";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { CLOSE_LIST, CLOSE_OBJECT, COMMA, endOfString, isName, OPEN_LIST, OPEN_OBJECT, QUOTE } from "./text-scan.js";

/** What is shorter is written anew, because that takes no time. */
const SHORTEST = 256;
/** A body with more names is written anew: to count them would take as long. */
const MOST_NAMES = 20_000;

/** Names are written with every request, and mostly they are the same. They come from strangers, so neither all of them nor long ones. */
const MOST_QUOTED = 256;
const LONGEST_QUOTED = 64;

/** A text, and what was parsed from it; for a body that is sent in place of another, those of that other. */
export interface Source {
  readonly text: string;
  readonly parsed: JsonObject;
  /** Whether the text is in ASCII, so that it has as many bytes as characters. */
  readonly isAscii: boolean;
}

/** A text that is sent. */
export interface SentText {
  readonly text: string;
  /** How many bytes it has in UTF-8; null where that has to be counted. */
  readonly bytes: number | null;
}

/**
 * The text of what is sent in place of a body. Its long members, which are the conversation and the tools, are copied from the text that
 * it came as, because to write them anew takes longer than to parse them. That is done only where no name stands twice in one object:
 * of two, the provider might read the other.
 */
export function writeSent(sent: JsonObject, source: Source | undefined): SentText {
  const members = source === undefined || source.text.length < SHORTEST ? null : longMembers(source);
  if (source === undefined || members === null) return { text: JSON.stringify(sent), bytes: null };
  let text = "";
  // What is not copied, which is short: only that may have characters of more than one byte, if the source has none.
  let anew = "}";
  for (const name of Object.keys(sent)) {
    const value = sent[name];
    if (value === undefined) continue;
    // White space makes anything long. Only what the text itself says is copied from it; and a limit stands there as it was read.
    const isSame = value === source.parsed[name] && typeof value !== "number";
    const copied = isSame ? members.get(name) : undefined;
    const before = `${text === "" ? "{" : ","}${quoted(name)}:${copied === undefined ? valueText(value) : ""}`;
    text += before + (copied ?? "");
    anew += before;
  }
  if (text === "") return { text: "{}", bytes: 2 };
  text += "}";
  return { text, bytes: source.isAscii ? text.length - anew.length + Buffer.byteLength(anew) : null };
}

const names = new Map<string, string>();

/** As `JSON.stringify` writes it, which takes longer to begin than for a name. */
function quoted(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (name.length > LONGEST_QUOTED) return text;
  if (names.size >= MOST_QUOTED) names.clear();
  names.set(name, text);
  return text;
}

function valueText(value: Json): string {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return String(value);
  return JSON.stringify(value);
}

/** The texts of a body's long members; null when one of them cannot be told from its text for certain. */
function longMembers({ text, parsed }: Source): ReadonlyMap<string, string> | null {
  const look = new Look(text);
  return look.isPlain() && look.names === namesIn(parsed) ? look.members : null;
}

/** One look at the text of an object. */
class Look {
  readonly members = new Map<string, string>();
  names = 0;
  private readonly text: string;
  /** The member at the top whose value is being looked at, and where that begins. */
  private name = "";
  private start = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Goes through it, from string to string; false when it is nothing to be copied from. */
  isPlain(): boolean {
    const { text } = this;
    let depth = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        const last = endOfString(text, at);
        if (isName(text, last) && !this.begin(depth, at + 1, last)) return false;
        at = last;
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++;
      else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--;
      if ((code === COMMA && depth === 1) || depth === 0) this.end(at);
    }
    return true;
  }

  private begin(depth: number, first: number, last: number): boolean {
    if (++this.names > MOST_NAMES) return false;
    if (depth !== 1) return true;
    this.name = this.text.slice(first, last);
    this.start = this.text.indexOf(":", last) + 1;
    // It may be written in another way than the one it is looked for by.
    return !this.name.includes("\\");
  }

  private end(at: number): void {
    if (at - this.start >= SHORTEST) this.members.set(this.name, this.text.slice(this.start, at));
    this.start = this.text.length;
  }
}

/** How many names there are in it, at all levels. Of those that stood twice in one object, there is one. */
function namesIn(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  let names = 0;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) names += namesIn(item);
    return names;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) names += 1 + namesIn(object[name] as Json);
  return names;
}
