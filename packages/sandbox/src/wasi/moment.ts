import type { Moment } from "./inode.js";

const NS_PER_MS = 1_000_000;
const NS_PER_MS_EXACT = 1_000_000n;

/** Nanoseconds since 1970, as WASI tells time; a moment before that reads as 0. */
export function nanoseconds(moment: Moment): bigint {
  const exact = typeof moment === "bigint" ? moment : fromMilliseconds(moment);
  return exact < 0n ? 0n : BigInt.asUintN(64, exact);
}

/** Milliseconds since 1970, as the host tells time. */
export function milliseconds(moment: Moment): number {
  return typeof moment === "bigint" ? Number(moment) / NS_PER_MS : moment;
}

/** A double does not hold nanoseconds since 1970, so the whole milliseconds are multiplied as integers. */
function fromMilliseconds(moment: number): bigint {
  const whole = Math.floor(moment);
  const exact = BigInt(whole) * NS_PER_MS_EXACT;
  return whole === moment ? exact : exact + BigInt(Math.round((moment - whole) * NS_PER_MS));
}
