import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { offAbort, onAbort } from "../runtime/abort-listeners.js";

/** Timers measure running time, deadlines the wall clock: looking this often bounds how late a set clock is noticed. */
const LONGEST_WAIT_MS = 1_000;

/**
 * A signal that fires when a deadline passes or the caller's own signal does, and at the latest when it is disposed:
 * what still runs for an evaluation that is over, such as the sibling of a subagent that failed, has to end too.
 */
export class Expiry implements Disposable {
  private readonly controller: AbortController = new AbortController();
  private readonly leave: () => void;
  private alarm: Disposable | null = null;

  constructor(deadline: number | null, outer: AbortSignal | null, clock: Clock, timer: Timer) {
    const follow = (): void => this.abort(outer?.reason);
    onAbort(outer, follow);
    this.leave = () => offAbort(outer, follow);
    if (outer?.aborted) follow();
    else if (deadline !== null) this.arm(deadline, clock, timer);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  [Symbol.dispose](): void {
    this.abort(new DOMException("The evaluation is over", "AbortError"));
  }

  private arm(deadline: number, clock: Clock, timer: Timer): void {
    const left = deadline - clock.now().instant;
    if (left <= 0) this.abort(new DOMException("The deadline of the budget has passed", "TimeoutError"));
    else this.alarm = timer.after(Math.min(left, LONGEST_WAIT_MS), () => this.arm(deadline, clock, timer));
  }

  private abort(reason: unknown): void {
    this.leave();
    this.alarm?.[Symbol.dispose]();
    this.alarm = null;
    this.controller.abort(reason);
  }
}
