import type { JsonObject } from "bursar/chain";

/** What was typed for each dimension. */
export type Typed = Readonly<Record<string, string>>;

export function typedFrom(suggested: JsonObject): Typed {
  const numbers = Object.entries(suggested).filter(([, value]) => typeof value === "number");
  return Object.fromEntries(numbers.map(([dimension, value]) => [dimension, plain(value as number)]));
}

/** A number as one types it: no exponent, which a small amount of dollars would get. */
function plain(value: number): string {
  return value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 9 });
}

/** What is wrong with a typed amount, or null. Nothing typed means that this dimension is not extended. */
export function amountProblem(dimension: string, typed: string): string | null {
  const text = typed.trim();
  if (text === "") return null;
  const value = Number(text);
  if (!Number.isFinite(value) || !/^[0-9.]+$/.test(text)) return "Write a number, such as 0.25 or 1000.";
  if (value <= 0) return "Write a number above 0, or leave the field empty.";
  if (!dimension.endsWith("_usd") && !Number.isInteger(value)) return "Write a whole number.";
  return null;
}

/** The amounts to send; null while one of them is wrong. */
export function extensionsOf(typed: Typed): Record<string, number> | null {
  const extensions: Record<string, number> = {};
  for (const [dimension, text] of Object.entries(typed)) {
    if (amountProblem(dimension, text) !== null) return null;
    if (text.trim() !== "") extensions[dimension] = Number(text);
  }
  return extensions;
}
