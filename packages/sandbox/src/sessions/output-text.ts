import type { OutputBytes } from "./errand.js";
import type { OutputPiece } from "./options.js";
import { outputDecoder } from "./output-pieces.js";

/**
 * Output as text, for somebody who looks on. Characters that come in two pieces are put together, so that all pieces are the
 * same text as the result's.
 */
export class OutputText {
  private readonly decoders = { stdout: outputDecoder(), stderr: outputDecoder() };

  take(pieces: readonly OutputBytes[]): readonly OutputPiece[] {
    return pieces.flatMap(({ stream, bytes }) =>
      pieceOf(stream, this.decoders[stream].decode(bytes, { stream: true }), bytes),
    );
  }

  /** What is left of characters that never became whole. */
  end(): readonly OutputPiece[] {
    const streams = ["stdout", "stderr"] as const;
    return streams.flatMap((stream) => pieceOf(stream, this.decoders[stream].decode(), NO_BYTES));
  }
}

const NO_BYTES = new Uint8Array();

function pieceOf(stream: OutputPiece["stream"], text: string, bytes: Uint8Array): readonly OutputPiece[] {
  return text === "" && bytes.length === 0 ? [] : [{ stream, text, bytes }];
}
