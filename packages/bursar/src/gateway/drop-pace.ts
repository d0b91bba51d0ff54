/** What clients still send after they were answered is read so fast at most, in bytes a millisecond, all of them together. */
const FASTEST = 16 * 1024;

/**
 * Slows down the reading of what nobody needs any more. A client that sends a long body has to be listened to for a while, so that it
 * reads its answer; but that must not take the time of those who wait for theirs.
 */
export class DropPace {
  /** When all that was read until now is paid off. */
  private until = 0;

  /** How long to wait before more is read, after so many bytes. */
  wait_ms(bytes: number): number {
    const now = performance.now();
    this.until = Math.max(this.until, now) + bytes / FASTEST;
    return this.until - now;
  }
}
