const LONGEST = 18;
const HEAD = 6;
const TAIL = 8;

/** An id that fits into a column; ids made one after another begin alike, so the end is what tells them apart. */
export function shortId(id: string): string {
  return id.length <= LONGEST ? id : `${id.slice(0, HEAD)}…${id.slice(-TAIL)}`;
}
