import { setTimeout as delay } from "node:timers/promises";

/** How the time of simulated calls passes. */
export interface Pace {
  wait(ms: number): Promise<void>;
}

/** Real pauses, for somebody who watches. They end at once, with an error, when the signal fires. */
export function watchingPace(signal: AbortSignal): Pace {
  return { wait: (ms) => delay(ms, undefined, { signal }) };
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * No pauses: whoever sleeps shortest is woken as soon as nothing else can go on, so everything happens in the order it
 * would have had. `passed` is told how much time that stands for.
 */
export function fastPace(passed: (ms: number) => void = () => {}): Pace {
  let now = 0;
  let armed = false;
  let sleepers: readonly Sleeper[] = [];
  const arm = () => {
    if (armed || sleepers.length === 0) return;
    armed = true;
    setImmediate(step);
  };
  const step = () => {
    armed = false;
    const next = sleepers.reduce((first, each) => (each.at < first.at ? each : first));
    sleepers = sleepers.filter((each) => each !== next);
    passed(next.at - now);
    now = next.at;
    next.wake();
    arm();
  };
  return {
    wait: (ms) =>
      new Promise((wake) => {
        sleepers = [...sleepers, { at: now + ms, wake }];
        arm();
      }),
  };
}
