/** So many of the last answers are remembered: enough for the 99th of a hundred, and few enough to forget what has changed. */
export const REMEMBERED = 256;

/** With fewer nothing is known. */
export const ENOUGH = 20;

const SHARE = 0.99;

/** What is held on top of what was seen, because the next answer may be longer than all of them. */
const MARGIN = 1.5;
/** Of fewer than a hundred answers the longest is not yet the one that 99 do not pass; and short answers are the first to come. */
const FIRST_MARGIN = 2;
const HUNDRED = 99;

const LOOK_EVERY = 8;

/** An answer that a limit has cut off is taken for so much of what was seen of it. */
const CUT_FACTOR = 1.5;

/**
 * How long the last answers were that calls from one place got, in tokens: the oldest first, and below zero those that were cut
 * off by a limit, which would have been longer.
 */
export class Outputs {
  private readonly ring: number[] = [];
  private next = 0;
  private known: number | null = null;

  constructor(figures: readonly number[] = []) {
    for (const figure of figures) this.push(figure);
  }

  add(tokens: number, cut: boolean): void {
    this.push(figureOf(tokens, cut));
  }

  get figures(): readonly number[] {
    return [...this.ring.slice(this.next), ...this.ring.slice(0, this.next)];
  }

  /**
   * What 99 of 100 answers do not pass, with a margin; null as long as too few were seen. It is an order statistic, which holds
   * whatever the shape of the distribution is.
   */
  get upper(): number | null {
    if (this.ring.length < ENOUGH) return null;
    this.known ??= bound(this.ring);
    return this.known;
  }

  private push(figure: number): void {
    this.ring[this.next] = figure;
    this.next = (this.next + 1) % REMEMBERED;
    // A longer one is heard at once. That old ones are forgotten can wait a little: to look at all takes longer than to add one.
    const isLonger = this.known === null || Math.abs(figure) * CUT_FACTOR > this.known;
    if (isLonger || this.next % LOOK_EVERY === 0) this.known = null;
  }
}

/** How an answer is remembered. One that was cut off has at least a token. */
export function figureOf(tokens: number, cut: boolean): number {
  return cut ? -tokens : tokens;
}

/** Nothing is sorted, because no more than the two longest matter of so few, and it is done with every call. */
function bound(figures: readonly number[]): number {
  let longest = 0;
  let second = 0;
  for (const figure of figures) {
    const value = figure < 0 ? -figure * CUT_FACTOR : figure;
    if (value > longest) {
      second = longest;
      longest = value;
    } else if (value > second) second = value;
  }
  const { length } = figures;
  const isLongest = Math.ceil(SHARE * (length + 1)) >= length;
  return Math.ceil((isLongest ? longest : second) * (length < HUNDRED ? FIRST_MARGIN : MARGIN));
}
