import type { Timer } from "../../ports/timer.js";
import { offAbort, onAbort } from "../../runtime/abort-listeners.js";

/** A signal that fires when a caller's does, or when it has waited long enough. Dispose of it once the answer is there. */
export class Patience implements Disposable {
  private readonly controller: AbortController = new AbortController();
  private readonly leave: () => void;
  private readonly alarm: Disposable;
  private late = false;

  constructor(ms: number, caller: AbortSignal, timer: Timer) {
    const follow = (): void => this.controller.abort(caller.reason);
    onAbort(caller, follow);
    this.leave = () => offAbort(caller, follow);
    this.alarm = timer.after(ms, () => {
      this.late = true;
      this.controller.abort(new DOMException("The provider took too long", "TimeoutError"));
    });
    if (caller.aborted) follow();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether it has waited long enough. */
  get isOver(): boolean {
    return this.late;
  }

  [Symbol.dispose](): void {
    this.leave();
    this.alarm[Symbol.dispose]();
  }
}
