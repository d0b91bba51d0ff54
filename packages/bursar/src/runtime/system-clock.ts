import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";

/** The clocks of the machine. */
export const systemClock: Clock = {
  now: () => ({ instant: Date.now(), monotonic: performance.now() }),
};

/** Longer waits than this overflow the platform's timers, which then fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The timers of the machine. */
export const systemTimer: Timer = {
  after(ms, run) {
    let handle: NodeJS.Timeout;
    const wait = (left: number): void => {
      const part = Math.min(left, LONGEST_MS);
      // It keeps the process alive: a deadline has to come, even if nothing else is left to wait for.
      handle = setTimeout(() => (left > part ? wait(left - part) : run()), part);
    };
    wait(Math.max(0, ms));
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};

/** The same, but none that keeps a process alive which has nothing else to do: for work in the background. */
export const backgroundTimer: Timer = {
  after(ms, run) {
    const handle = setTimeout(run, Math.min(Math.max(0, ms), LONGEST_MS)).unref();
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};
