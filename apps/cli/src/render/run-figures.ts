import { type JsonObject, printAmount, readAmount, STANDARD } from "bursar";
import { harmless } from "./style.js";

/** An amount in edge units, as records carry it, for people. A dimension of somebody's own is shown as it is. */
export function runFigure(id: string, value: unknown): string {
  if (!STANDARD.has(id)) return `${String(value)} ${harmless(id)}`;
  const dimension = STANDARD.get(id);
  // What was used may be more than a limit may be, and is shown all the same.
  const amount = typeof value === "number" && Number.isFinite(value) ? value : 0;
  if (dimension.kind === "clock") return `${(Math.floor(amount / 100) / 10).toFixed(1)} s`;
  if (dimension.unit === "USD") return printAmount(dimension, readAmount(dimension, Math.max(0, amount), "up", id));
  const unit = UNITS[id] ?? dimension.unit;
  return `${amount.toLocaleString("en-US")} ${amount === 1 ? unit.replace(/s\b/, "") : unit}`;
}

/** How much of how much: `1,200 of 5,000 tokens`. */
export function runShare(id: string, used: unknown, limit: unknown): string {
  const whole = runFigure(id, limit);
  const part = runFigure(id, used);
  const isCounted = /^[\d,]+ /.test(whole) && /^[\d,]+ /.test(part);
  return `${isCounted ? part.split(" ")[0] : part} of ${whole}`;
}

/** Where the unit alone would not say what is counted. */
const UNITS: Readonly<Record<string, string>> = {
  steps: "steps",
  llm_tokens: "tokens",
  llm_input_tokens: "tokens in",
  llm_output_tokens: "tokens out",
  network_egress_bytes: "bytes sent",
  storage_write_bytes: "bytes written",
  memory_peak_bytes: "bytes of memory",
};

/** Amounts by dimension, in the order of the table: `2,500 tokens, $0.10`. */
export function runFigures(amounts: JsonObject, without: readonly string[] = []): string {
  const known = STANDARD.all.map(({ id }) => id);
  const ids = [...known, ...Object.keys(amounts).filter((id) => !known.includes(id))];
  return ids
    .filter((id) => amounts[id] !== undefined && !without.includes(id))
    .map((id) => runFigure(id, amounts[id]))
    .join(", ");
}
