import type { Amount, Amounts } from "./amount.js";
import type { Rounding } from "./decimal.js";
import { type Dimension, readAmount } from "./dimension.js";
import { type Dimensions, STANDARD } from "./dimensions.js";
import { InputError, show } from "./errors.js";
import { isKeyed } from "./fields.js";
import { nearest } from "./nearest.js";
import { type ExhaustionPolicy, POLICIES, type Policies } from "./policy.js";

/**
 * Limits as a caller writes them, in edge units (dollars for money): a number, `0` for none of it, `null` for no limit.
 * Further dimensions of the caller's own are named like the built-in ones.
 */
export interface BudgetLimits {
  readonly steps?: number | null;
  readonly wall_clock_ms?: number | null;
  readonly llm_tokens?: number | null;
  readonly llm_input_tokens?: number | null;
  readonly llm_output_tokens?: number | null;
  readonly cost_usd?: number | null;
  readonly network_egress_bytes?: number | null;
  readonly storage_write_bytes?: number | null;
  readonly fuel?: number | null;
  readonly memory_peak_bytes?: number | null;
  readonly iterations?: number | null;
  readonly subcalls?: number | null;
  readonly depth?: number | null;
  readonly [dimension: string]: number | null | undefined;
}

/** Policies as a caller writes them; kebab forms are accepted too. */
export type BudgetPolicies = Readonly<Record<string, ExhaustionPolicy>>;

/** Amounts as a caller writes them, in edge units. */
export type BudgetAmounts = Readonly<Record<string, number>>;

/** The limits of the table itself: what a run gets when nobody says otherwise. */
export function defaultLimits(dimensions: Dimensions): Amounts {
  const limits: Record<string, Amount> = {};
  for (const { id, defaultLimit } of dimensions.all) if (defaultLimit !== null) limits[id] = defaultLimit;
  return limits;
}

/** The policies of the table itself. */
export function defaultPolicies(dimensions: Dimensions): Policies {
  return Object.fromEntries(dimensions.all.map(({ id, defaultPolicy }) => [id, defaultPolicy]));
}

/**
 * Reads limits. An absent key takes its value from `defaults`, which is empty for sessions, tenants and children, where
 * absent means no limit at this node; an explicit null is no limit anywhere.
 */
export function readLimits(
  input: unknown,
  dimensions: Dimensions = STANDARD,
  { field = "limits", defaults = {} }: { field?: string; defaults?: Amounts } = {},
): Amounts {
  const limits: Record<string, Amount> = { ...defaults };
  readEntries(input, dimensions, field, (dimension, value, name) => {
    if (value === null) delete limits[dimension.id];
    else limits[dimension.id] = readAmount(dimension, value, "down", name);
  });
  return limits;
}

export function readPolicies(
  input: unknown,
  dimensions: Dimensions = STANDARD,
  { field = "policies", defaults = {} }: { field?: string; defaults?: Policies } = {},
): Policies {
  const policies: Record<string, ExhaustionPolicy> = { ...defaults };
  readEntries(input, dimensions, field, (dimension, value, name) => {
    policies[dimension.id] = readPolicy(value, name);
  });
  return policies;
}

/** Reads amounts a call asks for, has used, or is to be granted. Clocks run by themselves, so nobody asks for them. */
export function readAmounts(
  input: unknown,
  dimensions: Dimensions = STANDARD,
  {
    field = "amounts",
    rounding = "up",
    clocks = false,
  }: { field?: string; rounding?: Rounding; clocks?: boolean } = {},
): Amounts {
  const amounts: Record<string, Amount> = {};
  readEntries(input, dimensions, field, (dimension, value, name) => {
    if (dimension.kind === "clock" && !clocks) {
      throw new InputError(name, "is a clock, which runs by itself; leave it out");
    }
    amounts[dimension.id] = readAmount(dimension, value, rounding, name);
  });
  return amounts;
}

/** Reads what is to be added to limits: rounded down as they are, and for clocks too. */
export function readExtension(input: unknown, dimensions: Dimensions = STANDARD, field = "extensions"): Amounts {
  return readAmounts(input, dimensions, { field, rounding: "down", clocks: true });
}

/** Percentages at which a budget warns: ascending, above 0 and below 100, where the policy takes over. */
export function readThresholds(input: unknown, field = "thresholds"): readonly number[] {
  const list: readonly unknown[] = Array.isArray(input) ? input : [Number.NaN];
  const ascending = list.every((value, index) => {
    const before = index === 0 ? 0 : list[index - 1];
    return typeof value === "number" && value > (before as number) && value < 100;
  });
  if (!ascending || list.length > 16) {
    throw new InputError(field, `must be at most 16 ascending percentages between 0 and 100, such as [50, 80]`);
  }
  return Object.freeze([...(list as readonly number[])]);
}

function readPolicy(value: unknown, field: string): ExhaustionPolicy {
  const snake = typeof value === "string" ? value.replaceAll("-", "_") : value;
  const policy = POLICIES.find((known) => known === snake);
  if (policy !== undefined) return policy;
  const guess = typeof snake === "string" ? nearest(snake, POLICIES) : null;
  const hint = guess === null ? "" : `; did you mean ${guess}?`;
  throw new InputError(field, `is ${show(value)}${hint}; allowed: ${POLICIES.join(", ")}`);
}

/** Reads the entries of an object keyed by dimension, each dimension at most once whatever its name was. */
function readEntries(
  input: unknown,
  dimensions: Dimensions,
  field: string,
  read: (dimension: Dimension, value: unknown, name: string) => void,
): void {
  if (!isKeyed(input)) {
    throw new InputError(field, `is ${show(input)}; allowed: an object keyed by dimension`);
  }
  const seen: string[] = [];
  for (const key of Object.keys(input)) {
    const name = `${field}.${key}`;
    const dimension = dimensions.resolve(key, name);
    if (seen.includes(dimension.id)) throw new InputError(name, `says ${dimension.id} a second time; give it once`);
    seen.push(dimension.id);
    read(dimension, (input as Record<string, unknown>)[key], name);
  }
}
