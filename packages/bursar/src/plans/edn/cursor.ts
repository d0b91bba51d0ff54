import type { Position } from "../plan-error.js";
import type { Source } from "../source.js";

/** Goes through a text, and knows the line and the column at every moment. */
export class Cursor implements Position {
  readonly source: Source;
  private readonly text: string;
  private offset = 0;
  line = 1;
  column = 1;

  constructor(source: Source) {
    this.source = source;
    this.text = source.text;
  }

  get atEnd(): boolean {
    return this.offset >= this.text.length;
  }

  /** The character that comes next, as a whole also where it takes two units; nothing at the end. */
  get next(): string {
    const code = this.text.codePointAt(this.offset);
    return code === undefined ? "" : String.fromCodePoint(code);
  }

  get position(): Position {
    return { line: this.line, column: this.column };
  }

  startsWith(text: string): boolean {
    return this.text.startsWith(text, this.offset);
  }

  take(): string {
    const taken = this.next;
    this.offset += taken.length;
    if (taken === "\n") {
      this.line++;
      this.column = 1;
    } else {
      this.column++;
    }
    return taken;
  }

  /** Everything up to the first character of which `ends` is true. */
  takeUntil(ends: (character: string) => boolean): string {
    const start = this.offset;
    while (!this.atEnd && !ends(this.next)) this.take();
    return this.text.slice(start, this.offset);
  }
}
