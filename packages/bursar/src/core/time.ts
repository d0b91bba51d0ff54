/** Both clocks at one moment, passed in by the caller, because decisions must be repeatable. */
export interface Time {
  /** Milliseconds since 1970: what deadlines are compared with. It may jump. */
  readonly instant: number;
  /** Milliseconds of a clock that never goes back: what running time is measured with. Its zero means nothing. */
  readonly monotonic: number;
}

/** Running time without pauses. It survives restarts, because what has elapsed is kept apart from the clock's reading. */
export interface Stopwatch {
  readonly elapsed: number;
  /** The clock's reading when it was last started; null while paused. */
  readonly since: number | null;
}

export function started(time: Time): Stopwatch {
  return { elapsed: 0, since: time.monotonic };
}

/** Whole milliseconds, rounded down: a limit of 1 ms is not reached before a whole millisecond has passed. */
export function elapsed(watch: Stopwatch, time: Time): number {
  const running = watch.since === null ? 0 : Math.max(0, time.monotonic - watch.since);
  return Math.floor(watch.elapsed + running);
}

/** The same clocks at an earlier instant; one that is yet to come is now. */
export function timeAt(time: Time, instant: number): Time {
  const ago = Math.max(0, time.instant - instant);
  return { instant: time.instant - ago, monotonic: time.monotonic - ago };
}

export function paused(watch: Stopwatch, time: Time): Stopwatch {
  if (watch.since === null) return watch;
  return { elapsed: watch.elapsed + Math.max(0, time.monotonic - watch.since), since: null };
}

export function resumed(watch: Stopwatch, time: Time): Stopwatch {
  return watch.since === null ? { elapsed: watch.elapsed, since: time.monotonic } : watch;
}
