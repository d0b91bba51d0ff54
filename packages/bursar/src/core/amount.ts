import { InputError, show } from "./errors.js";

declare const unit: unique symbol;

/** A whole, non-negative number of one unit. Integers, because ledgers must add up. */
export type Amount<Unit extends string = string> = number & { readonly [unit]: Unit };

/** Amounts by dimension id; an absent dimension is none of it. */
export type Amounts = Readonly<Record<string, Amount>>;

/** The largest limit or charge: 9,000,000 USD in billionths, with room below 2^53 so that sums stay exact. */
export const MAX_AMOUNT: Amount = 9_000_000_000_000_000 as Amount;

/** The largest total a budget can count; beyond it a double would start to skip integers. */
export const MAX_TOTAL: Amount = Number.MAX_SAFE_INTEGER as Amount;

export const NONE: Amount = 0 as Amount;

/** Nothing of anything: one object for all who have nothing to say. */
export const NO_AMOUNTS: Amounts = Object.freeze({});

export function isAmount(value: unknown): value is Amount {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_AMOUNT;
}

/** Checks a number that comes from outside. */
export function amount<Unit extends string>(value: unknown, field: string): Amount<Unit> {
  if (!isAmount(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: a whole number from 0 to ${MAX_AMOUNT}`);
  }
  return (value + 0) as number as Amount<Unit>;
}
