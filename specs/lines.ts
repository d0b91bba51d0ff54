/** From the first line to the last, both included, counted from one as editors do. */
export type LineRange = readonly [from: number, to: number];

/** Ranges are written as one would cite a page, `"10-12, 20"`, so that a manifest reads beside its text. */
export function parseLines(written: string): readonly LineRange[] {
  return written.split(", ").map((part) => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    const from = Number(match?.[1]);
    const to = Number(match?.[2] ?? match?.[1]);
    if (!(from >= 1 && to >= from)) {
      throw new RangeError(`"${part}" in "${written}" is not a range of lines; write "12" or "10-12", split by ", "`);
    }
    return [from, to];
  });
}

/** Every line number the ranges hold, in the order they are written. */
export function linesIn(ranges: readonly LineRange[]): readonly number[] {
  return ranges.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, offset) => from + offset));
}
