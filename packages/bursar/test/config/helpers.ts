import { ConfigError, type Effective, printOrigin, type ReadOptions, readConfig } from "../../src/config/config.js";

/** The error that a text ends in. */
export function problemsOf(text: string, options: ReadOptions = {}): ConfigError {
  try {
    readConfig(text, options);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error(`nothing is wrong in ${text}`);
}

/** What is wrong in a text, a sentence each. */
export function complaints(text: string, options: ReadOptions = {}): readonly string[] {
  return problemsOf(text, options).problems.map(({ message }) => message);
}

/** The budget that came out; throws with the reasons when none did. */
export function budgetOf(effective: Effective): Extract<Effective, { kind: "effective" }>["budget"] {
  if (effective.kind === "effective") return effective.budget;
  throw new Error(effective.refusals.map(({ message }) => message).join("\n"));
}

/** By dimension: the limit in its smallest unit, and where it comes from. */
export function limitsOf(effective: Effective): Readonly<Record<string, readonly [number | null, string]>> {
  const rows = budgetOf(effective).dimensions.map(({ dimension, limit }) => {
    return [dimension.id, [limit.value, printOrigin(limit.origin)]] as const;
  });
  return Object.fromEntries(rows);
}

export function openingOf(effective: Effective) {
  return budgetOf(effective).opening;
}

/** What is refused, as sentences. */
export function refusalsOf(effective: Effective): readonly string[] {
  return effective.kind === "refused" ? effective.refusals.map(({ message }) => message) : [];
}
