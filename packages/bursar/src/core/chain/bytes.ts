import { isWellFormed } from "./canonical-error.js";

/*
 * One buffer serves all scans. A scan is synchronous and done with the bytes when it returns, so two never overlap; a new
 * buffer per call would cost more than the scan.
 */
const SCRATCH_BYTES = 64 * 1024;
const BYTES_PER_UNIT = 3;

const scratch = new Uint8Array(SCRATCH_BYTES);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Runs `scan` over the text's UTF-8 bytes, followed by a zero byte, and says whether the scan ended exactly at their end.
 * A lone surrogate has no UTF-8 form and is refused here; the encoder would replace it in silence.
 */
export function scansWhole(text: string, scan: (bytes: Uint8Array, length: number) => number): boolean {
  const room = text.length * BYTES_PER_UNIT + 1;
  const bytes = room <= SCRATCH_BYTES ? scratch : new Uint8Array(room);
  const { written } = encoder.encodeInto(text, bytes);
  if (written !== text.length && !isWellFormed(text)) return false;
  bytes[written] = 0;
  return scan(bytes, written) === written;
}

/** The UTF-8 bytes of a text, to be kept. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text that these UTF-8 bytes write. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
