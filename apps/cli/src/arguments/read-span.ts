const LENGTHS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Reads a span of time such as `30d` or `12h`, in milliseconds; null for any other text. */
export function readSpan(text: string): number | null {
  const [, count, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const length = LENGTHS[unit];
  return count === undefined || length === undefined ? null : Number(count) * length;
}
