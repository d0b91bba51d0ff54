import type { IncomingMessage } from "node:http";

const MOST_BYTES = 8 * 1024 * 1024;

/** The body as a text; null when it is too large. */
export async function bodyOf(incoming: IncomingMessage): Promise<string | null> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    size += piece.length;
    // The rest is read and dropped, so that the other side gets to read why.
    if (size <= MOST_BYTES) pieces.push(piece);
  }
  return size > MOST_BYTES ? null : Buffer.concat(pieces).toString("utf8");
}
