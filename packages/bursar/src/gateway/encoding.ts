import type { IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/**
 * An answer without the compression that nobody has asked for: what cannot be read cannot be counted. It is null where the
 * provider compresses in a way that is not known here.
 */
export function plain(answer: IncomingMessage): Readable | null {
  const { "content-encoding": encoding = "identity" } = answer.headers;
  switch (encoding.trim().toLowerCase()) {
    case "":
    case "identity":
      return answer;
    case "gzip":
    case "x-gzip":
      return through(answer, createGunzip());
    case "deflate":
      return through(answer, createInflate());
    case "br":
      return through(answer, createBrotliDecompress());
    default:
      return null;
  }
}

/** A failure on either side ends the other; whoever reads hears of it. */
function through<Decoder extends Readable & NodeJS.WritableStream>(answer: IncomingMessage, decoder: Decoder): Decoder {
  pipeline(answer, decoder, () => {});
  return decoder;
}
