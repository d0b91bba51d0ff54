import { InputError, show } from "../../core/errors.js";
import type { Time } from "../../core/time.js";
import type { Clock } from "../../ports/clock.js";
import type { Timer } from "../../ports/timer.js";

interface Alarm {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Clocks and timers that move only when told to, so that a test says when time passes.
 *
 * @example
 * ```ts
 * const clock = new FakeClock();
 * clock.advance(250); // both clocks go on, and alarms that are due ring, in order
 * clock.jump(-60_000); // somebody sets the wall clock back; running time does not notice
 * ```
 */
export class FakeClock implements Clock, Timer {
  private instant: number;
  private monotonic: number;
  private alarms: readonly Alarm[] = [];

  constructor({ instant = Date.UTC(2030, 0, 1), monotonic = 0 }: Partial<Time> = {}) {
    this.instant = instant;
    this.monotonic = monotonic;
  }

  now(): Time {
    return { instant: this.instant, monotonic: this.monotonic };
  }

  /** Lets time pass, and rings every alarm on the way at its own moment. */
  advance(ms: number): void {
    if (!(ms >= 0)) throw new InputError("ms", `is ${show(ms)}; allowed: 0 or more milliseconds`);
    const end = this.monotonic + ms;
    for (let next = this.nextAlarm(end); next !== null; next = this.nextAlarm(end)) {
      this.alarms = this.alarms.filter((alarm) => alarm !== next);
      this.pass(Math.max(0, next.at - this.monotonic));
      next.run();
    }
    this.pass(end - this.monotonic);
  }

  /** Sets the wall clock forward or back; the monotonic one stays. */
  jump(ms: number): void {
    this.instant += ms;
  }

  after(ms: number, run: () => void): Disposable {
    const alarm = { at: this.monotonic + Math.max(0, ms), run };
    this.alarms = [...this.alarms, alarm];
    return {
      [Symbol.dispose]: () => {
        this.alarms = this.alarms.filter((each) => each !== alarm);
      },
    };
  }

  private nextAlarm(end: number): Alarm | null {
    const due = this.alarms.filter(({ at }) => at <= end);
    return due.reduce<Alarm | null>((first, alarm) => (first === null || alarm.at < first.at ? alarm : first), null);
  }

  private pass(ms: number): void {
    this.instant += ms;
    this.monotonic += ms;
  }
}
