import { gunzipSync, gzipSync } from "node:zlib";
import type { SavedClock } from "../wasi/host-clock.js";
import { type Contents, unwrap, wrap } from "../wasm/container.js";
import type { HostCall } from "../wasm/outcome.js";
import { checkPages, type Pages } from "../wasm/pages.js";
import type { Box } from "./exports.js";

const FORMAT = 1;
const FASTEST = 1;
const MOST_CALLS = 1000;

/** Everything about a guest that does not come with its image. */
export interface Snapshot {
  /** Names the image that the pages differ from. */
  readonly image: string;
  readonly clock: SavedClock;
  /** The promise of the program that waits for answers; null when none does. */
  readonly main: Box | null;
  readonly open: readonly HostCall[];
  readonly pages: Pages;
  /** What to go back to when the program that waits is stopped; null when that is the image itself, or none waits. */
  readonly settled: Pages | null;
}

interface Data {
  readonly format: number;
  readonly image: string;
  readonly clock: { readonly realtime: string; readonly monotonic: string };
  readonly main: Box | null;
  readonly open: readonly HostCall[];
  readonly sizes: readonly number[];
}

/** Thrown for bytes that are no snapshot, or none of this guest. */
export class SnapshotRefused extends Error {
  override readonly name = "SnapshotRefused";
}

export function writeSnapshot({ image, clock, main, open, pages, settled }: Snapshot): Uint8Array {
  const all = settled === null ? [pages] : [pages, settled];
  const data: Data = {
    format: FORMAT,
    image,
    clock: { realtime: String(clock.realtimeNs), monotonic: String(clock.monotonicNs) },
    main,
    open,
    sizes: all.map(({ size }) => size),
  };
  const parts = all.flatMap(({ runs, bytes }) => [
    new Uint8Array(runs.buffer, 0, runs.byteLength),
    gzipSync(bytes, { level: FASTEST }),
  ]);
  return wrap(data, parts);
}

/** Reads a snapshot back. Nothing in it is believed: a garbled one is refused, and none makes the host take more than that. */
export function readSnapshot(bytes: Uint8Array, image: string, mostPages: number): Snapshot {
  const { data, parts } = unwrapped(bytes);
  if (data?.format !== FORMAT || data.image !== image) {
    throw new SnapshotRefused("the snapshot was made with another version of the engine; start the session anew");
  }
  try {
    const { main, open, clock, sizes } = data;
    if (main !== null && !(Number.isSafeInteger(main) && main > 0)) throw new RangeError("the program is nowhere");
    const all = sizes.map((size, index) => readPages(size, parts[2 * index], parts[2 * index + 1], mostPages));
    const [pages, settled = null] = all;
    if (pages === undefined || all.length > 2) throw new RangeError("the pages are missing");
    if (main !== null && main >= pages.size * 65_536) throw new RangeError("the program is nowhere");
    const saved = { realtimeNs: BigInt(clock.realtime), monotonicNs: BigInt(clock.monotonic) };
    return { image, clock: saved, main, open: open.slice(0, MOST_CALLS).map(readCall), pages, settled };
  } catch (error) {
    throw new SnapshotRefused(
      `the snapshot cannot be read: ${error instanceof Error ? error.message : "it is garbled"}`,
    );
  }
}

function unwrapped(bytes: Uint8Array): Contents<Data> {
  try {
    return unwrap<Data>(bytes);
  } catch {
    throw new SnapshotRefused("the snapshot is damaged; take an earlier one");
  }
}

function readPages(size: number, runs: Uint8Array | undefined, packed: Uint8Array | undefined, most: number): Pages {
  if (runs === undefined || packed === undefined || runs.length % 4 !== 0) throw new RangeError("pages are missing");
  if (!(size <= most)) throw new RangeError(`it needs ${size} pages of memory; ${most} are allowed`);
  const bytes = gunzipSync(packed, { maxOutputLength: most * 65_536 });
  const pages = { size, runs: new Uint32Array(runs.slice().buffer), bytes };
  checkPages(pages, most);
  return pages;
}

function readCall({ id, name, args }: HostCall): HostCall {
  if (!Number.isSafeInteger(id) || typeof name !== "string") throw new RangeError("a call is garbled");
  return { id, name, args };
}
