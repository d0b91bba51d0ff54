/** The UTF-8 bytes of a text and a zero behind them, one by one and as words of four, wherever those start. */
export interface Bytes {
  readonly bytes: Uint8Array;
  readonly words: DataView;
}

/** Bytes to be compared with: words of four, the last of which overlaps the one before unless the length is a multiple. */
export interface Pattern {
  readonly length: number;
  readonly words: Int32Array;
}

export const WORD_BYTES = 4;
const SCRATCH_BYTES = 64 * 1024;
const BYTES_PER_UNIT = 3;

/*
 * One buffer serves all scans. A scan is synchronous and done with the bytes when it returns, so two never overlap; a new
 * buffer per call would cost more than the scan.
 */
const scratch = makeBytes(SCRATCH_BYTES);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function makeBytes(length: number): Bytes {
  const bytes = new Uint8Array(length);
  return { bytes, words: new DataView(bytes.buffer) };
}

/**
 * Runs `scan` over the text's UTF-8 bytes, followed by a zero byte, and says whether the scan ended exactly at their end.
 * A lone surrogate has no UTF-8 form and is refused here; the encoder would replace it in silence.
 */
export function scansWhole(text: string, scan: (bytes: Bytes, length: number) => number): boolean {
  // One for the zero, and what a word that starts there needs: it is read as a whole before the zero is seen.
  const room = text.length * BYTES_PER_UNIT + WORD_BYTES;
  const into = room <= SCRATCH_BYTES ? scratch : makeBytes(room);
  const { written } = encoder.encodeInto(text, into.bytes);
  if (written !== text.length && !isWellFormed(text)) return false;
  into.bytes[written] = 0;
  return scan(into, written) === written;
}

/** Whether every surrogate has its other half; a text without that has no UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** A text of four bytes or more, ready to be compared with. */
export function pattern(text: string): Pattern {
  const { buffer, byteOffset, length } = encoder.encode(text);
  const words = new DataView(buffer, byteOffset, length);
  const offsets = Array.from({ length: Math.ceil(length / WORD_BYTES) }, (_, index) =>
    Math.min(index * WORD_BYTES, length - WORD_BYTES),
  );
  return { length, words: Int32Array.from(offsets, (offset) => words.getInt32(offset, true)) };
}

/** The text that these UTF-8 bytes write. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
