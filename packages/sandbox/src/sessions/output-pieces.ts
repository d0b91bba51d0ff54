import type { Output } from "./errand.js";
import type { Text } from "./result.js";

/** Adds what came out before a question, but never more than may come out in all: questions could follow without an end. */
export function addTo(pieces: Output[], { bytes, truncated }: Output, most: number): void {
  const room = most - pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  const kept = { bytes: bytes.subarray(0, room), truncated: truncated || bytes.length > room };
  const isNew = kept.bytes.length > 0 || (kept.truncated && !pieces.some((piece) => piece.truncated));
  if (isNew) pieces.push(kept);
}

/** Pieces as one text, not longer than allowed. Bytes that are no UTF-8 are replaced: it is the guest's output. */
export function textOf(pieces: readonly Output[], most: number): Text {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const truncated = bytes.length > most || pieces.some((piece) => piece.truncated);
  return { text: outputDecoder().decode(bytes.subarray(0, most)), truncated };
}

/** A byte order mark is output as any other character: files for spreadsheets begin with one. */
export function outputDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder("utf-8", { ignoreBOM: true });
}
