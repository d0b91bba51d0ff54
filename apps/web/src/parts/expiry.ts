const DAY_MS = 86_400_000;

/** How long something that is made now may be good for. */
export const EXPIRIES: readonly { readonly label: string; readonly days: number | null }[] = [
  { label: "never", days: null },
  { label: "in a day", days: 1 },
  { label: "in a week", days: 7 },
  { label: "in 30 days", days: 30 },
  { label: "in 90 days", days: 90 },
  { label: "in a year", days: 365 },
];

/** What the API takes for one of them; nothing for never. */
export function expiryIn(days: string, now: number): { expires?: number } {
  return days === "" ? {} : { expires: now + Number(days) * DAY_MS };
}
