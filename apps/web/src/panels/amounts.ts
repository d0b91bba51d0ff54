import type { JsonObject } from "bursar/chain";

/** What was typed for each dimension. */
export type Typed = Readonly<Record<string, string>>;

export function typedFrom(suggested: JsonObject): Typed {
  const numbers = Object.entries(suggested).filter(([, value]) => typeof value === "number");
  return Object.fromEntries(numbers.map(([dimension, value]) => [dimension, plain(value as number)]));
}

/** A number as one types it: no exponent, which a small amount of dollars would get. */
export function plain(value: number): string {
  return value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 9 });
}

/** What an amount is for. To extend by nothing means nothing; a limit of nothing allows nothing. */
export type Purpose = "extension" | "limit";

/** What is wrong with a typed amount, or null. Nothing typed means that this dimension is left as it is. */
export function amountProblem(dimension: string, typed: string, purpose: Purpose = "extension"): string | null {
  const text = typed.trim();
  if (text === "") return null;
  const value = Number(text);
  if (!Number.isFinite(value) || !/^[0-9.]+$/.test(text)) return "Write a number, such as 0.25 or 1000.";
  if (value <= 0 && purpose === "extension") return "Write a number above 0, or leave the field empty.";
  if (!dimension.endsWith("_usd") && !Number.isInteger(value)) return "Write a whole number.";
  return null;
}

/** The amounts to send; null while one of them is wrong. */
export function extensionsOf(typed: Typed): Record<string, number> | null {
  return amountsOf(typed, "extension");
}

/** The same for limits. */
export function limitsOf(typed: Typed): Record<string, number> | null {
  return amountsOf(typed, "limit");
}

function amountsOf(typed: Typed, purpose: Purpose): Record<string, number> | null {
  const amounts: Record<string, number> = {};
  for (const [dimension, text] of Object.entries(typed)) {
    if (amountProblem(dimension, text, purpose) !== null) return null;
    if (text.trim() !== "") amounts[dimension] = Number(text);
  }
  return amounts;
}
