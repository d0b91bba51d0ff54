/** As long as a text has to be for the engine to give it memory of its own, from which it is never moved; and some more. */
const BLOCK_LENGTH = 160 * 1024;
/** A place is a block and where in it; this parts them, and no text is as long. */
const SPAN = 2 ** 32;
/** What stands between two lines. No line holds one: JSON writes it as an escape. */
const LINE_FEED = "\n";

/**
 * Lines of chains, many in one text. A store keeps all its lines for as long as it lives, and each by itself is a dozen pieces
 * that the engine moves twice and looks at ever again when it collects what nobody needs.
 */
export class KeptLines {
  private readonly blocks: string[] = [];
  /** The lines that are not in a block yet, and how long they are together. */
  private last: string[] = [];
  private length = 0;

  /** Keeps a line and gives back its place. */
  add(line: string): number {
    const place = this.blocks.length * SPAN + this.length;
    this.last.push(line);
    this.length += line.length + LINE_FEED.length;
    if (this.length >= BLOCK_LENGTH) this.close();
    return place;
  }

  /** The line that was kept at this place. */
  at(place: number): string {
    const block = Math.floor(place / SPAN);
    if (block === this.blocks.length) this.close();
    const text = this.blocks[block] as string;
    const start = place % SPAN;
    return text.slice(start, text.indexOf(LINE_FEED, start));
  }

  private close(): void {
    this.last.push("");
    this.blocks.push(this.last.join(LINE_FEED));
    this.last = [];
    this.length = 0;
  }
}
