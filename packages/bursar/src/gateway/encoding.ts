import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Received, Take } from "./received.js";

/** An answer that can be read. */
export type Readable = Pick<Received, "status" | "headers" | "read" | "drop" | "atOnce">;

/**
 * An answer without the compression that nobody has asked for: what cannot be read cannot be counted. It is null where the
 * provider compresses in a way that is not known here.
 */
export function plain(received: Received): Readable | null {
  const { "content-encoding": encoding = "identity" } = received.headers;
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return received;
    case "gzip":
    case "x-gzip":
      return through(received, createGunzip());
    case "deflate":
      return through(received, createInflate());
    case "br":
      return through(received, createBrotliDecompress());
    default:
      return null;
  }
}

function through(received: Received, decoder: Transform): Readable {
  const { status, headers } = received;
  const read = async (take: Take) => {
    const written = received
      .read((piece) => (decoder.write(piece) ? undefined : drained(decoder)))
      .then(
        () => void decoder.end(),
        (error: unknown) => void decoder.destroy(error instanceof Error ? error : new Error(String(error))),
      );
    try {
      for await (const piece of decoder as AsyncIterable<Buffer>) await take(piece);
      await written;
    } catch (error) {
      received.drop();
      throw error;
    }
  };
  return { status, headers, read, drop: () => received.drop(), atOnce: () => null };
}

function drained(decoder: Transform): Promise<void> {
  return new Promise((resolve) => {
    decoder.once("drain", resolve);
    decoder.once("close", resolve);
  });
}
