/** A block takes no more lines once it has so many characters. */
const BLOCK_LENGTH = 160 * 1024;
/** What a block begins with, for a store of few lines, and what those behind a full one get at once. */
const FIRST_BYTES = 4 * 1024;
const FULL_BYTES = BLOCK_LENGTH + 8 * 1024;
const BYTES_PER_UNIT = 3;
/** A place is a block and where in it; this parts them, and no block is as long. */
const SPAN = 2 ** 30;
/** What stands between two lines. No line holds one: JSON writes it as an escape. */
const LINE_FEED = 0x0a;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The lines of one block as UTF-8, each with a line feed behind it. */
interface LineBlock {
  bytes: Uint8Array;
  /** How many bytes are written, and how many characters they stand for. */
  length: number;
  characters: number;
}

/**
 * Lines of chains as bytes, many in one block. As texts they would be moved twice by the engine and looked at ever again when it
 * collects what is no longer needed, and each would be a dozen pieces.
 */
export class KeptLines {
  /** Null where a block was given back. */
  private readonly blocks: (LineBlock | null)[] = [];
  /** The numbers of the blocks that were given back, which are used again. */
  private readonly free: number[] = [];
  private current = 0;
  private open: LineBlock = emptyBlock(FIRST_BYTES);
  private closed = 0;

  constructor() {
    this.blocks[this.current] = this.open;
  }

  /** How many characters all blocks have. */
  get characters(): number {
    return this.closed + this.open.characters;
  }

  /** Keeps a line and gives back its place. */
  add(line: string): number {
    const { open } = this;
    const start = open.length;
    const most = start + line.length * BYTES_PER_UNIT + 1;
    if (most > open.bytes.length) open.bytes = resized(open.bytes, Math.max(2 * open.bytes.length, most));
    open.length += encoder.encodeInto(line, open.bytes.subarray(start)).written;
    open.bytes[open.length++] = LINE_FEED;
    open.characters += line.length + 1;
    const place = this.current * SPAN + start;
    if (open.characters >= BLOCK_LENGTH) this.close();
    return place;
  }

  /** The line that was kept at this place. */
  at(place: number): string {
    const { bytes } = this.blocks[this.blockOf(place)] as LineBlock;
    const start = place % SPAN;
    return decoder.decode(bytes.subarray(start, bytes.indexOf(LINE_FEED, start)));
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
    this.closed -= this.blocks[block]?.characters ?? 0;
    this.blocks[block] = null;
    this.free.push(block);
  }

  private close(): void {
    const { open } = this;
    open.bytes = resized(open.bytes, open.length);
    this.closed += open.characters;
    this.current = this.free.pop() ?? this.blocks.length;
    this.open = emptyBlock(FULL_BYTES);
    this.blocks[this.current] = this.open;
  }
}

function emptyBlock(bytes: number): LineBlock {
  return { bytes: new Uint8Array(bytes), length: 0, characters: 0 };
}

/** The same bytes in memory of another size. */
function resized(bytes: Uint8Array, size: number): Uint8Array {
  const copy = new Uint8Array(size);
  copy.set(size < bytes.length ? bytes.subarray(0, size) : bytes);
  return copy;
}
