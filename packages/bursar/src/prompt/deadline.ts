import { InputError, show } from "../core/errors.js";
import { systemClock } from "../runtime/system-clock.js";

/** The last instant a `Date` can hold, on both sides of 1970. */
const MAX_INSTANT = 8_640_000_000_000_000;

/**
 * An instant after which nothing may start and whatever runs is aborted. It does not stop for anybody.
 *
 * @example
 * ```ts
 * const deadline = new Deadline(new Date("2030-01-01T00:01:00Z"));
 * deadline.remaining(new Date("2030-01-01T00:00:00Z")); // 60000
 * deadline.remaining(new Date("2030-01-01T00:02:00Z")); // -60000
 * ```
 */
export class Deadline {
  /** Milliseconds since 1970. */
  readonly at: number;

  /** Takes a `Date`, or milliseconds since 1970. A `Date` is copied, so changing it later changes nothing here. */
  constructor(at: Date | number) {
    this.at = readInstant(at, "deadline");
    Object.freeze(this);
  }

  /** Milliseconds left; negative once the deadline has passed. */
  remaining(now?: Date | number): number {
    return this.at - (now === undefined ? systemClock.now().instant : readInstant(now, "now"));
  }

  toJSON(): string {
    return new Date(this.at).toISOString();
  }
}

function readInstant(value: unknown, field: string): number {
  const instant = value instanceof Date ? value.getTime() : value;
  if (typeof instant === "number" && Number.isInteger(instant) && Math.abs(instant) <= MAX_INSTANT) return instant + 0;
  const what = value instanceof Date ? "an invalid date" : show(value);
  throw new InputError(field, `is ${what}; allowed: a valid Date, or whole milliseconds since 1970`);
}
