import type { Timer } from "../ports/timer.js";
import type { Changed, Feed } from "../views/views.js";

/** Several changes at once are told as one. */
const GATHER_MS = 50;
const MOST_GATHERED = 500;

/** Tells many of what changes, with one ear at the feed, and not more often than anybody can look. */
export class Changes implements Disposable {
  private readonly feed: Feed;
  private readonly timer: Timer;
  private readonly listeners = new Set<(changed: Changed) => void>();
  private readonly runs = new Set<string>();
  private readonly approvals = new Set<string>();
  private hearing: Disposable | null = null;
  private telling: Disposable | null = null;

  constructor(feed: Feed, timer: Timer) {
    this.feed = feed;
    this.timer = timer;
  }

  listen(listener: (changed: Changed) => void): Disposable {
    this.listeners.add(listener);
    this.hearing ??= this.feed.changes((changed) => this.gather(changed));
    return {
      [Symbol.dispose]: () => {
        this.listeners.delete(listener);
        if (this.listeners.size === 0) this[Symbol.dispose]();
      },
    };
  }

  /** Settled when everything that changes from then on is told, also what others change, to whoever listens by now. */
  ready(): Promise<void> {
    return this.feed.ready();
  }

  [Symbol.dispose](): void {
    this.hearing?.[Symbol.dispose]();
    this.telling?.[Symbol.dispose]();
    this.hearing = null;
    this.telling = null;
    this.runs.clear();
    this.approvals.clear();
  }

  private gather({ runs, approvals }: Changed): void {
    for (const id of runs) this.runs.add(id);
    for (const id of approvals) this.approvals.add(id);
    if (this.runs.size + this.approvals.size >= MOST_GATHERED) this.tell();
    else this.telling ??= this.timer.after(GATHER_MS, () => this.tell());
  }

  private tell(): void {
    this.telling?.[Symbol.dispose]();
    this.telling = null;
    const changed = { runs: [...this.runs], approvals: [...this.approvals] };
    this.runs.clear();
    this.approvals.clear();
    this.tellAll(changed);
  }

  private tellAll(changed: Changed): void {
    for (const listener of [...this.listeners]) listener(changed);
  }
}
