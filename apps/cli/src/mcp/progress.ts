import type { Extra } from "./said.js";

const EVERY_MS = 500;
const LONGEST_MESSAGE = 200;

/** Tells a client that asked for it how long something has been under way, so that it waits on. */
export class Progress implements Disposable {
  private readonly extra: Extra;
  private readonly total_ms: number;
  private readonly timer: NodeJS.Timeout | null;
  private readonly began = performance.now();
  private told = 0;
  private message: string;

  constructor(extra: Extra, message: string, total_ms: number) {
    this.extra = extra;
    this.total_ms = total_ms;
    this.message = message;
    this.timer = extra._meta?.progressToken === undefined ? null : setInterval(() => this.tell(), EVERY_MS).unref();
    this.tell();
  }

  /** What is said with the next word. */
  say(message: string): void {
    this.message = message.slice(-LONGEST_MESSAGE);
  }

  [Symbol.dispose](): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  private tell(): void {
    const progressToken = this.extra._meta?.progressToken;
    if (progressToken === undefined || this.extra.signal.aborted) return;
    // It may never stand still or go back, whatever the clock does.
    const progress = Math.max(this.told + 1, Math.round(performance.now() - this.began));
    this.told = progress;
    const params = { progressToken, progress, total: Math.max(this.total_ms, progress), message: this.message };
    void this.extra.sendNotification({ method: "notifications/progress", params }).catch(() => {});
  }
}
