/** As long as a text has to be for the engine to give it memory of its own, from which it is never moved; and some more. */
const BLOCK_LENGTH = 160 * 1024;
/** A place is a block and where in it; this parts them, and no text is as long. */
const SPAN = 2 ** 30;
/** What stands between two lines. No line holds one: JSON writes it as an escape. */
const LINE_FEED = "\n";

/**
 * Lines of chains, many in one text. Each by itself is a dozen pieces that the engine moves twice and looks at ever again when it
 * collects what nobody needs.
 */
export class KeptLines {
  /** Null where there is none any more, and where the lines are not in a text yet. */
  private readonly blocks: (string | null)[] = [];
  /** The blocks that were given back, whose numbers are used again. */
  private readonly free: number[] = [];
  /** The block that is being written, its lines, and how long they are together. */
  private current = 0;
  private last: string[] = [];
  private length = 0;
  private closed = 0;

  /** How many characters all blocks have. */
  get characters(): number {
    return this.closed + this.length;
  }

  /** Keeps a line and gives back its place. */
  add(line: string): number {
    const place = this.current * SPAN + this.length;
    this.last.push(line);
    this.length += line.length + LINE_FEED.length;
    if (this.length >= BLOCK_LENGTH) this.close();
    return place;
  }

  /** The line that was kept at this place. */
  at(place: number): string {
    const block = this.blockOf(place);
    if (block === this.current) this.close();
    const text = this.blocks[block] as string;
    const start = place % SPAN;
    return text.slice(start, text.indexOf(LINE_FEED, start));
  }

  /** The number of the block that a place is in. */
  blockOf(place: number): number {
    return Math.floor(place / SPAN);
  }

  /** Whether a block takes more lines. */
  isOpen(block: number): boolean {
    return block === this.current;
  }

  /** Gives a block back that takes no more lines. What was kept in it cannot be read any more. */
  drop(block: number): void {
    this.closed -= this.blocks[block]?.length ?? 0;
    this.blocks[block] = null;
    this.free.push(block);
  }

  private close(): void {
    this.last.push("");
    const text = this.last.join(LINE_FEED);
    this.blocks[this.current] = text;
    this.closed += text.length;
    this.last = [];
    this.length = 0;
    this.current = this.free.pop() ?? this.blocks.length;
  }
}
