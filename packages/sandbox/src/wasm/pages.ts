/** Parts of a linear memory that differ from a base, or from nothing: what an image or a delta is made of. */
export interface Pages {
  /** How large the memory is, in WebAssembly's pages of 64 KiB. */
  readonly size: number;
  /** Where each run of changed pages begins and ends, in bytes, two numbers for each run, in order. */
  readonly runs: Uint32Array;
  /** The bytes of all runs, one after the other. */
  readonly bytes: Uint8Array;
}

/** Small enough that a changed variable costs little, large enough that a memory has only thousands of them. */
const PAGE = 4096;
const WASM_PAGE = 65_536;
const NOTHING = Buffer.alloc(PAGE);

/** The pages of a memory that are not as in the base. Beyond the base's end, and without one, memory is zero. */
export function differing(memory: Uint8Array, base?: Uint8Array): Pages {
  const now = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength);
  const before = base === undefined ? Buffer.alloc(0) : Buffer.from(base.buffer, base.byteOffset, base.byteLength);
  const runs: number[] = [];
  let total = 0;
  for (let at = 0; at < now.length; at += PAGE) {
    const same =
      at < before.length
        ? now.compare(before, at, at + PAGE, at, at + PAGE) === 0
        : now.compare(NOTHING, 0, PAGE, at, at + PAGE) === 0;
    if (same) continue;
    total += PAGE;
    if (runs.length > 0 && runs[runs.length - 1] === at) runs[runs.length - 1] = at + PAGE;
    else runs.push(at, at + PAGE);
  }
  const bytes = new Uint8Array(total);
  eachRun(Uint32Array.from(runs), (start, end, from) => bytes.set(now.subarray(start, end), from));
  return { size: now.length / WASM_PAGE, runs: Uint32Array.from(runs), bytes };
}

/** Puts pages where they belong. The memory has to be as it was in what they differ from. */
export function lay({ runs, bytes }: Pages, memory: Uint8Array): void {
  eachRun(runs, (start, end, from) => memory.set(bytes.subarray(from, from + end - start), start));
}

/** The same from a whole memory that holds them: the bytes of the pages themselves are not needed then. */
export function layFrom(base: Uint8Array, { runs }: Pages, memory: Uint8Array): void {
  eachRun(runs, (start, end) => memory.set(base.subarray(start, end), start));
}

/** Throws unless runs are in order, inside of the memory, and have all their bytes: pages may come from anywhere. */
export function checkPages({ size, runs, bytes }: Pages, mostPages: number): void {
  let last = 0;
  let total = 0;
  const sound = Number.isSafeInteger(size) && size >= 0 && size <= mostPages && runs.length % 2 === 0;
  if (!sound) throw new RangeError("the pages do not fit into the memory");
  eachRun(runs, (start, end) => {
    if (start < last || end <= start || end > size * WASM_PAGE) throw new RangeError("the pages are not in order");
    last = end;
    total += end - start;
  });
  if (total !== bytes.length) throw new RangeError("the pages do not have the bytes they should");
}

function eachRun(runs: Uint32Array, work: (start: number, end: number, from: number) => void): void {
  let from = 0;
  for (let at = 0; at < runs.length; at += 2) {
    const [start, end] = [runs[at] as number, runs[at + 1] as number];
    work(start, end, from);
    from += end - start;
  }
}
