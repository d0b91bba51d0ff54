const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  // Half a tenth less than a minute would be written as a minute of seconds.
  if (ms < MINUTE - 50) return `${trimmed(ms / SECOND)} s`;
  if (ms < HOUR) return pair(Math.round(ms / SECOND), 60, "m", "s");
  if (ms < DAY) return pair(Math.round(ms / MINUTE), 60, "h", "m");
  return pair(Math.round(ms / HOUR), 24, "d", "h");
}

function trimmed(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1).replace(/\.?0+$/, "");
}

function pair(small: number, per: number, large: string, unit: string): string {
  const rest = small % per;
  const whole = `${Math.floor(small / per)}${large}`;
  return rest === 0 ? whole : `${whole} ${rest}${unit}`;
}

/** How far an instant is from now, in words. */
export function formatAgo(instant: number, now: number): string {
  const away = Math.abs(now - instant);
  if (away < 5 * SECOND) return "now";
  const text = coarse(away);
  return instant <= now ? `${text} ago` : `in ${text}`;
}

function coarse(ms: number): string {
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} days`;
}

const full = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** A number need not be a date, and one that is none must not take the page along. */
function isDate(instant: number): boolean {
  return !Number.isNaN(new Date(instant).getTime());
}

/** Date and time in the reader's own zone. */
export function formatInstant(instant: number): string {
  return isDate(instant) ? full.format(instant) : "beyond all dates";
}

/** The same for machines; empty where there is no such date. */
export function isoInstant(instant: number): string {
  return isDate(instant) ? new Date(instant).toISOString() : "";
}

/** The time alone, when the day is known. */
export function formatClock(instant: number): string {
  return isDate(instant) ? clock.format(instant) : "";
}
