import type { Place } from "./place.js";

/** A line of a text, safe to show, and how much of it is meant. */
export interface Excerpt {
  readonly text: string;
  readonly column: number;
  readonly length: number;
}

/** The longest line that is shown: a longer one helps nobody, and would have to be searched for secrets. */
const MOST_SHOWN = 200;

/** A text from a user, with the places of what stands in it. */
export class Source {
  readonly file: string;
  readonly text: string;
  private readonly isFlag: boolean;
  /** Where each line begins. */
  private readonly starts: readonly number[];

  constructor(file: string, text: string, kind: "file" | "flag" = "file") {
    this.file = file;
    this.text = text;
    this.isFlag = kind === "flag";
    const starts = [0];
    if (!this.isFlag) {
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
    }
    this.starts = starts;
  }

  placeOf(offset: number): Place {
    const at = Math.min(Math.max(0, offset), this.text.length);
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return { file: this.file, line: this.isFlag ? null : low + 1, column: at - (this.starts[low] ?? 0) + 1 };
  }

  /** The line of a place, with the word that stands there marked; null when it is too long to show. */
  excerptAt({ line, column }: Place): Excerpt | null {
    const start = this.starts[(line ?? 1) - 1] ?? 0;
    const end = this.starts[line ?? 1] ?? this.text.length + 1;
    if (end - start > MOST_SHOWN) return null;
    const text = masked(this.text.slice(start, end - 1).replace(/\r$/, ""));
    const [word = ""] = /^[^\s,:}\]]+/.exec(text.slice(column - 1)) ?? [];
    return { text, column, length: Math.max(1, word.length) };
  }
}

/** Logins in URLs, with or without slashes, and the values of keys that say that they are secret. */
const SECRETS: readonly RegExp[] = [
  /(?<=[a-z][a-z0-9+.-]*:\/\/)\S+/gi,
  /(?<=\bpostgres(?:ql)?:)[^\s/]\S*/gi,
  /(?<=(?:secret|password|passwd|api_?key|credential|authorization)[\w-]*["']?\s*[:=]\s*)\S.*/gi,
  /[^\s:"'{]+:[^\s@]+@\S+/g,
];

/** Messages end up in logs: what may be a secret is hidden, and every character keeps its column. */
function masked(line: string): string {
  let text = line;
  for (const secret of SECRETS) text = text.replace(secret, (found) => "*".repeat(found.length));
  return tame(text);
}

/** Characters that a terminal would obey, or that make a line look like another one. */
export function tame(text: string): string {
  return text.replaceAll("\t", " ").replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "\ufffd");
}
