/** What people call the dimensions that every ledger has. */
const LABELS: Readonly<Record<string, string>> = {
  steps: "Steps",
  wall_clock_ms: "Running time",
  llm_tokens: "Tokens",
  llm_input_tokens: "Input tokens",
  llm_output_tokens: "Output tokens",
  cost_usd: "Cost",
  network_egress_bytes: "Network",
  storage_write_bytes: "Storage",
  fuel: "Fuel",
  memory_peak_bytes: "Peak memory",
  iterations: "Rounds",
  subcalls: "Child runs",
  depth: "Depth",
};

/** Those dimensions, for who may choose among all of them. */
export const STANDARD: readonly string[] = Object.keys(LABELS);

/** What matters most comes first; the rest follows as it comes. */
const ORDER: readonly string[] = ["cost_usd", "llm_tokens", "steps", "wall_clock_ms", "fuel", ...STANDARD];

export function labelOf(dimension: string): string {
  const label = LABELS[dimension];
  if (label !== undefined) return label;
  const words = dimension.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What there is more or less of: one asks for more money, not for more cost. */
export function nounOf(dimension: string): string {
  return dimension === "cost_usd" ? "money" : labelOf(dimension).toLowerCase();
}

/** Sorted so that a reader finds the same dimension in the same place everywhere. */
export function inOrder<Item>(items: readonly Item[], dimensionOf: (item: Item) => string): readonly Item[] {
  const rank = (item: Item) => {
    const at = ORDER.indexOf(dimensionOf(item));
    return at < 0 ? ORDER.length : at;
  };
  return [...items].sort((a, b) => rank(a) - rank(b));
}
