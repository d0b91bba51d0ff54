import type { ServerResponse } from "node:http";
import type { Timer } from "../ports/timer.js";
import { EventStream } from "./event-stream.js";
import { HttpError } from "./http-error.js";
import type { Visitor, Visitors } from "./visitors.js";

const BEAT_MS = 15_000;
const MOST_EACH = 250;
const MOST_ALL = 5000;

/** Everybody who listens to events. */
export class Streams {
  private readonly visitors: Visitors;
  private readonly timer: Timer;
  private readonly onError: (error: unknown) => void;
  private readonly open = new Map<EventStream, Visitor>();
  private readonly counts = new Map<string, number>();
  private next: Disposable | null = null;
  /** Whether signs of life are being given. Who comes or leaves meanwhile must not begin a second round beside it. */
  private beating = false;

  constructor(visitors: Visitors, timer: Timer, onError: (error: unknown) => void) {
    this.visitors = visitors;
    this.timer = timer;
    this.onError = onError;
  }

  get size(): number {
    return this.open.size;
  }

  /** Begins to send events to somebody; throws when he listens too often already. */
  begin(visitor: Visitor, response: ServerResponse): EventStream {
    const { name } = visitor.principal;
    const count = this.counts.get(name) ?? 0;
    if (count >= MOST_EACH || this.open.size >= MOST_ALL) {
      const message = `${name} listens ${count} times already`;
      const headers = { "retry-after": "5" };
      throw new HttpError(429, { code: "too_many_streams", message, hint: "end some of them first", headers });
    }
    const stream = new EventStream(response);
    this.counts.set(name, count + 1);
    this.open.set(stream, visitor);
    stream.onOver(() => this.forget(stream, name));
    this.schedule();
    return stream;
  }

  /** Ends all of them, with a last word. */
  end(): void {
    this.next?.[Symbol.dispose]();
    this.next = null;
    for (const stream of [...this.open.keys()]) stream.end("closing", { reason: "the server ends; connect again" });
  }

  private forget(stream: EventStream, name: string): void {
    this.open.delete(stream);
    const left = (this.counts.get(name) ?? 1) - 1;
    if (left > 0) this.counts.set(name, left);
    else this.counts.delete(name);
    if (this.open.size > 0) return;
    this.next?.[Symbol.dispose]();
    this.next = null;
  }

  private schedule(): void {
    if (this.beating || this.open.size === 0) return;
    this.next ??= this.timer.after(BEAT_MS, () => void this.beat());
  }

  /** A sign of life to those who are still known; whose token was revoked hears nothing more. */
  private async beat(): Promise<void> {
    this.next = null;
    this.beating = true;
    for (const [stream, visitor] of [...this.open]) {
      try {
        if (await this.visitors.isStillKnown(visitor)) stream.beat();
        else stream.end("dropped", { reason: "the token is no longer taken" });
      } catch (error) {
        this.onError(error);
        stream.beat();
      }
    }
    this.beating = false;
    this.schedule();
  }
}
