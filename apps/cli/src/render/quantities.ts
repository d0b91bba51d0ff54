const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
const STEP = 1024;

/** `147,456` bytes as `144.0 KiB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= STEP && unit < UNITS.length - 1) {
    value /= STEP;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

export function number(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 link`, `2 links`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

const SPANS: readonly (readonly [string, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** A span of time in its largest whole unit: `3 days`. */
export function span(ms: number): string {
  const found = SPANS.find(([, length]) => ms >= length);
  return found === undefined ? "less than a second" : counted(Math.floor(ms / found[1]), found[0]);
}

const HALF_MINUTE = 30_000;

/** How long something still lasts: of a day that began a moment ago, a day is left, and not 23 hours. */
export function spanLeft(ms: number): string {
  return span(ms > 2 * HALF_MINUTE ? ms + HALF_MINUTE : ms);
}
