import type { OutputBytes } from "./errand.js";

/** So much is sent at once at most before the time for it has come. */
const MOST_BYTES = 16 * 1024;
/** How long output may lie here: short for whoever looks, long for a program that prints every character by itself. */
const LONGEST_MS = 20;

/** Sends output on while a program runs, in order, in pieces that are neither many nor late. */
export class Outlet {
  private readonly send: (pieces: readonly OutputBytes[]) => void;
  private pieces: OutputBytes[] = [];
  private bytes = 0;
  private since = Number.NEGATIVE_INFINITY;

  constructor(send: (pieces: readonly OutputBytes[]) => void) {
    this.send = send;
  }

  print(stream: OutputBytes["stream"], bytes: Uint8Array): void {
    this.pieces.push({ stream, bytes });
    this.bytes += bytes.length;
    if (this.bytes >= MOST_BYTES) this.flush();
    else this.flushIfDue();
  }

  /** To be called now and then while nothing is printed. */
  flushIfDue(): void {
    if (this.pieces.length > 0 && performance.now() - this.since >= LONGEST_MS) this.flush();
  }

  flush(): void {
    if (this.pieces.length === 0) return;
    const joined = join(this.pieces);
    this.pieces = [];
    this.bytes = 0;
    this.since = performance.now();
    this.send(joined);
  }
}

/** Neighbours of the same stream become one piece. */
function join(pieces: readonly OutputBytes[]): readonly OutputBytes[] {
  const runs: { readonly stream: OutputBytes["stream"]; readonly parts: Uint8Array[] }[] = [];
  for (const { stream, bytes } of pieces) {
    const last = runs.at(-1);
    if (last?.stream === stream) last.parts.push(bytes);
    else runs.push({ stream, parts: [bytes] });
  }
  return runs.map(({ stream, parts }) => ({ stream, bytes: Uint8Array.from(Buffer.concat(parts)) }));
}
