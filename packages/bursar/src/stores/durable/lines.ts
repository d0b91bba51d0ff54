/** Lines that follow each other in a chain, in one row: the position of the first, and all of them with line breaks between. */
export interface Stretch {
  readonly seq: number;
  readonly lines: string;
}

/** No row gets much longer than this, so that a chain can be read in small pieces. */
const LONGEST = 64 * 1024;

/** How many rows are read at a time. */
const STRETCHES = 16;

/** Where to begin in order to find a position: the row that holds it, else the first. Its two parameters are chain and position. */
export function stretchesFrom(first: string, second: string, third: string): string {
  return `SELECT seq, lines FROM links WHERE chain = ${first}
    AND seq >= coalesce((SELECT max(seq) FROM links WHERE chain = ${second} AND seq <= ${third}), 0)
    ORDER BY seq LIMIT ${STRETCHES}`;
}

/** Puts the lines a transaction adds to a chain into rows. Canonical JSON has no raw line break, so the bytes stay exact. */
export function toStretches(last: number, lines: readonly string[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let from = 0;
  let length = 0;
  for (let at = 0; at < lines.length; at++) {
    length += (lines[at] as string).length;
    if (length < LONGEST && at < lines.length - 1) continue;
    stretches.push({ seq: last - lines.length + 1 + from, lines: lines.slice(from, at + 1).join("\n") });
    from = at + 1;
    length = 0;
  }
  return stretches;
}

/** The lines of one row, from a position on. */
function fromStretch({ seq, lines }: Stretch, from: number): readonly string[] {
  const all = lines.split("\n");
  return from <= seq ? all : all.slice(from - seq);
}

/** The lines of a chain from a position on, a few rows at a time. */
export async function* streamLines(
  from: number,
  read: (from: number) => Promise<readonly Stretch[]>,
): AsyncIterable<string> {
  for (let at = from; ; ) {
    const stretches = await read(at);
    for (const stretch of stretches) {
      const lines = fromStretch(stretch, at);
      yield* lines;
      at = Math.max(at, stretch.seq) + lines.length;
    }
    if (stretches.length < STRETCHES) return;
  }
}
