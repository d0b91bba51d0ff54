/** A share of 1, for people. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
