import { type Amount, MAX_AMOUNT } from "./amount.js";
import { InputError, show } from "./errors.js";

/** Money in billionths of a US dollar: an integer, because ledgers must add up. */
export type NanoUsd = Amount<"NanoUsd">;

/** Charges round up and limits round down, so that a rounding never favours the agent. */
export type Rounding = "up" | "down";

const DECIMAL = /^(\d+)(?:\.(\d*))?(?:e([+-]\d+))?$/;

/**
 * Reads a decimal number as a whole number of its smallest unit (`decimals` places), from its shortest written form:
 * `0.1` is exactly one tenth here, although no double is.
 */
export function fromDecimal(value: unknown, decimals: number, rounding: Rounding, field: string): Amount {
  if (typeof value !== "number" || !(value >= 0) || value > MAX_AMOUNT) throw refuse(value, decimals, field);
  const scaled = exactly(value, decimals) ?? scale(String(value), decimals, rounding);
  if (scaled > MAX_AMOUNT || (decimals === 0 && scaled !== value)) throw refuse(value, decimals, field);
  if (scaled === 0 && value > 0) {
    throw new InputError(field, `is ${value}, smaller than the smallest unit; allowed: 0, or at least 1e-${decimals}`);
  }
  // Adding zero turns -0 into 0, which the chain would print differently.
  return (scaled + 0) as Amount;
}

/** Every price in every link is divided by one of these, and to raise one takes longer than to look it up. */
const POWERS: readonly number[] = Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);

/** The nearest double to an amount, for people and JSON: ten times a tenth gives exactly 1. */
export function toDecimal(value: number, decimals: number): number {
  return decimals === 0 ? value : value / (POWERS[decimals] ?? 10 ** decimals);
}

/** The exact decimal text of an amount, without an exponent and without idle zeros: `1.5`, `0.000000001`. */
export function printDecimal(value: number, decimals: number): string {
  if (decimals === 0) return String(value);
  const digits = String(Math.abs(value)).padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return `${value < 0 ? "-" : ""}${digits.slice(0, -decimals)}${fraction && `.${fraction}`}`;
}

const USD_DECIMALS = 9;

/** Reads dollars as a charge. */
export function usd(value: number, rounding: Rounding = "up", field = "usd"): NanoUsd {
  return fromDecimal(value, USD_DECIMALS, rounding, field) as number as NanoUsd;
}

/** Prints dollars with at least two places: `$0.50`, `$0.000015`. */
export function printUsd(value: number): string {
  const [whole, fraction = ""] = printDecimal(Math.abs(value), USD_DECIMALS).split(".");
  return `${value < 0 ? "-" : ""}$${whole}.${fraction.padEnd(2, "0")}`;
}

/** An exact share of an amount, rounded down: `x` is taken as written, so 0.29 of 100 is 29 and not 28. */
export function fractionOf(value: number, x: number): Amount {
  if (x === 0.5) return Math.floor(value / 2) as Amount;
  const { digits, places } = parse(String(x));
  return Number((BigInt(value) * digits) / 10n ** BigInt(places)) as Amount;
}

/** The smallest amount that is at least `percent` of `limit`, exactly, also where a double product would round. */
export function percentOf(limit: number, percent: number): number {
  const product = limit * percent;
  if (product <= Number.MAX_SAFE_INTEGER && Number.isInteger(percent)) return Math.ceil(product / 100);
  const { digits, places } = parse(String(percent));
  const divisor = 100n * 10n ** BigInt(places);
  return Number((BigInt(limit) * digits + divisor - 1n) / divisor);
}

function refuse(value: unknown, decimals: number, field: string): InputError {
  const kind = decimals === 0 ? "a whole number" : "a number";
  return new InputError(field, `is ${show(value)}; allowed: ${kind} from 0 to ${toDecimal(MAX_AMOUNT, decimals)}`);
}

/** No two decimals of so many digits are the same double. */
const DISTINCT = 1e15;

/** Nearly every amount is a whole number of its unit, and to see that takes no reading; null for the others. */
function exactly(value: number, decimals: number): number | null {
  const power = POWERS[decimals];
  if (power === undefined) return null;
  const near = Math.round(value * power);
  return near < DISTINCT && near / power === value ? near : null;
}

function scale(text: string, decimals: number, rounding: Rounding): number {
  const { digits, places } = parse(text);
  if (places <= decimals) return Number(digits * 10n ** BigInt(decimals - places));
  const divisor = 10n ** BigInt(places - decimals);
  return Number(rounding === "up" ? (digits + divisor - 1n) / divisor : digits / divisor);
}

/** A decimal text as digits and the number of places behind the point. */
function parse(text: string): { digits: bigint; places: number } {
  const match = DECIMAL.exec(text);
  if (match === null) throw new InputError("decimal", `is ${show(text)}; allowed: a decimal number`);
  const [, whole = "0", fraction = "", exponent = "0"] = match;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}
