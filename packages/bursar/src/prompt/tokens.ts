import { amount } from "../core/amount.js";
import { InputError, show } from "../core/errors.js";
import { readFields } from "./fields.js";

/** Ceilings for the two kinds of tokens providers price apart. Null or absent: that kind is unbounded. 0: none of it. */
export interface TokenLimit {
  /** Tokens of prompts and tool input. */
  readonly input?: number | null;
  /** Tokens of what models and tools produce. */
  readonly output?: number | null;
}

/** Tokens used, as providers and tools report them. */
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
}

/** What is left of each kind: negative when overdrawn, null where it is unbounded. */
export interface RemainingTokens {
  readonly input: number | null;
  readonly output: number | null;
}

export const NO_TOKENS: TokenUsage = Object.freeze({ input: 0, output: 0 });

/** Checks a limit that comes from outside; both kinds are there afterwards. */
export function readTokenLimit(value: unknown, field: string): Required<TokenLimit> {
  const { input = null, output = null } = readFields(value, field, ["input", "output"]);
  return Object.freeze({
    input: input === null ? null : amount(input, `${field}.input`),
    output: output === null ? null : amount(output, `${field}.output`),
  });
}

/** Checks usage that comes from outside. Providers put further figures beside the two, which are left alone. */
export function readTokenUsage(value: unknown, field: string): TokenUsage {
  if (typeof value !== "object" || value === null) {
    throw new InputError(field, `is ${show(value)}; allowed: an object with input and output`);
  }
  const { input, output } = value as Partial<Record<keyof TokenUsage, unknown>>;
  return Object.freeze({ input: amount(input, `${field}.input`), output: amount(output, `${field}.output`) });
}
