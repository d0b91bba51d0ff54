/** How fast discarded input is read, in bytes per millisecond, over all connections together. */
const FASTEST = 16 * 1024;

/**
 * Slows down the reading of input that is discarded. A client that sends a long body has to be read from for a while, so that it finds its
 * response; that must not take the time of other clients.
 */
export class DiscardPace {
  /** When everything read so far is paid off. */
  private until = 0;

  /** How long to wait before more is read, after this many bytes. */
  waitAfter(bytes: number): number {
    const now = performance.now();
    this.until = Math.max(this.until, now) + bytes / FASTEST;
    return this.until - now;
  }
}
