/** The part of a list that is shown: what is chosen is always among it, and no room is left empty that could be filled. */
export function shownPart<Item>(
  items: readonly Item[],
  at: number,
  rows: number,
): { readonly items: readonly Item[]; readonly from: number } {
  const last = Math.max(0, items.length - rows);
  const from = Math.min(last, Math.max(0, at - Math.floor(rows / 2)));
  return { items: items.slice(from, from + Math.max(0, rows)), from };
}

/** The end of a list, or as far before it as somebody has gone back. */
export function shownEnd<Item>(items: readonly Item[], back: number, rows: number): readonly Item[] {
  const end = Math.max(Math.min(rows, items.length), items.length - back);
  return items.slice(Math.max(0, end - rows), end);
}
