import { formatDuration } from "./time.js";

type Measure = "usd" | "ms" | "bytes" | "fuel" | "count";

function measureOf(dimension: string): Measure {
  if (dimension.endsWith("_usd")) return "usd";
  if (dimension.endsWith("_ms")) return "ms";
  if (dimension.endsWith("_bytes")) return "bytes";
  return dimension === "fuel" ? "fuel" : "count";
}

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;
const FUEL_UNITS = ["", "K", "M", "B", "T"] as const;

/** An amount in edge units, short enough for a cell and never rounded to nothing. */
export function formatAmount(dimension: string, amount: number): string {
  switch (measureOf(dimension)) {
    case "usd":
      return formatUsd(amount);
    case "ms":
      return formatDuration(amount);
    case "bytes":
      return scaled(amount, 1024, BYTE_UNITS, " ");
    case "fuel":
      return scaled(amount, 1000, FUEL_UNITS, "");
    default:
      return amount < 1_000_000 ? grouped.format(amount) : scaled(amount, 1000, FUEL_UNITS, "");
  }
}

/** An amount that nobody knows exactly: three digits say all there is to know. */
export function formatRough(dimension: string, amount: number): string {
  return formatAmount(dimension, amount < 1000 ? Number(amount.toPrecision(3)) : Math.round(amount));
}

/** The same amount in full, for whoever has to copy or to compare it. */
export function exactAmount(dimension: string, amount: number): string {
  const unit = { usd: " USD", ms: " ms", bytes: " bytes", fuel: " fuel", count: "" }[measureOf(dimension)];
  return `${new Intl.NumberFormat("en-US", { maximumFractionDigits: 9 }).format(amount)}${unit}`;
}

/** What stands behind a field in which an amount is typed. */
export function unitOf(dimension: string): string {
  return { usd: "USD", ms: "ms", bytes: "bytes", fuel: "fuel", count: "" }[measureOf(dimension)];
}

function formatUsd(amount: number): string {
  const size = Math.abs(amount);
  const sign = amount < 0 ? "-" : "";
  if (size !== 0 && size < 0.000_001) return `${sign}<$0.000001`;
  const decimals = size === 0 || size >= 100 ? 2 : size >= 0.1 ? 3 : size >= 0.001 ? 5 : 6;
  const text = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: decimals });
  return `${sign}$${text.format(size)}`;
}

function scaled(amount: number, base: number, units: readonly string[], space: string): string {
  let value = amount;
  let unit = 0;
  while (Math.abs(value) >= base && unit < units.length - 1) {
    value /= base;
    unit++;
  }
  const digits = unit === 0 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  const text = new Intl.NumberFormat("en-US", { maximumFractionDigits: unit === 0 ? 3 : digits }).format(value);
  const name = units[unit] ?? "";
  return name === "" ? text : `${text}${space}${name}`;
}

/** How much of a limit an amount is, in whole percent; 100 only when it is all of it. */
export function percentOf(amount: number, limit: number): number {
  if (limit <= 0) return amount > 0 ? 100 : 0;
  const percent = (amount / limit) * 100;
  return percent < 100 ? Math.min(99, Math.round(percent)) : Math.round(percent);
}
