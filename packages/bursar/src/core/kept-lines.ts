import { encodeInto, textOf } from "./chain/bytes.js";

/** What is kept together. It begins small, because most stores are a test's or a demo's and see a few lines. */
const FIRST_BLOCK_BYTES = 4 * 1024;
const BLOCK_BYTES = 1024 * 1024;
/** What a character of a text, as JavaScript counts them, takes at most. */
const BYTES_PER_UNIT = 3;
/** A place is a block and where in it; this parts them, and no block is as long. */
const SPAN = 2 ** 32;
/** No line holds one: JSON writes it as an escape. */
const LINE_FEED = 0x0a;

/**
 * Lines of chains as bytes, outside of the engine's heap: there they are neither moved nor looked at when the engine collects
 * what nobody needs, and a store keeps all its lines for as long as it lives.
 */
export class KeptLines {
  private readonly blocks: Uint8Array[] = [];
  /** How much of the last block is written. */
  private end = 0;

  /** Keeps a line, which must have a form in UTF-8, and gives back its place. */
  add(line: string): number {
    const last = this.blocks.at(-1);
    const { end } = this;
    if (last !== undefined && this.write(last, line)) return (this.blocks.length - 1) * SPAN + end;
    // To count the bytes would take longer than to leave the end of a block empty.
    const most = line.length * BYTES_PER_UNIT + 1;
    const block = new Uint8Array(Math.max(most, Math.min(BLOCK_BYTES, (last?.length ?? FIRST_BLOCK_BYTES / 2) * 2)));
    this.blocks.push(block);
    this.end = 0;
    this.write(block, line);
    return (this.blocks.length - 1) * SPAN;
  }

  /** The line that was kept at this place. */
  at(place: number): string {
    const block = this.blocks[Math.floor(place / SPAN)] as Uint8Array;
    const start = place % SPAN;
    return textOf(block.subarray(start, block.indexOf(LINE_FEED, start)));
  }

  /** False when there is no room for it. */
  private write(block: Uint8Array, line: string): boolean {
    if (this.end + line.length >= block.length) return false;
    const { read, written } = encodeInto(line, block.subarray(this.end));
    const end = this.end + written;
    if (read < line.length || end === block.length) return false;
    block[end] = LINE_FEED;
    this.end = end + 1;
    return true;
  }
}
