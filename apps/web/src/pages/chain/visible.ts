/** The rows that are in the document. */
export interface Visible {
  readonly first: number;
  /** The first one that is not. */
  readonly end: number;
}

const BESIDE = 15;
/** However tall the window is, no more rows than this. */
const MOST = 150;

/** Which of many rows of one height have to be there, with some beside those in sight so that scrolling shows no gap. */
export function visibleRows(scrolled: number, height: number, rowHeight: number, total: number): Visible {
  const inSight = Math.min(Math.ceil(height / rowHeight) + 1, MOST - 2 * BESIDE);
  const top = Math.min(Math.max(0, Math.floor(scrolled / rowHeight)), Math.max(0, total - 1));
  const first = Math.max(0, Math.min(top, total - inSight) - BESIDE);
  return { first, end: Math.min(total, Math.max(first, top) + inSight + BESIDE) };
}
