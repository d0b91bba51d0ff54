import { InputError, show } from "../../core/errors.js";

/** What a caller says about the tier of one call. */
export interface Wish {
  /** The name of the tier that it has to be; null when it is to be chosen. */
  readonly pin: string | null;
  /** What the call needs beside what shows in the request. */
  readonly needs: readonly string[];
}

export const NO_WISH: Wish = { pin: null, needs: [] };

/** The headers in which a call over HTTP says so. They are for us alone, and are not sent on. */
const TIER_HEADER = "x-bursar-tier";
const NEEDS_HEADER = "x-bursar-needs";
const MOST_NEEDS = 32;

/** Reads a wish from headers, by whatever gives them by name. */
export function wishIn(header: (name: string) => string | null | undefined): Wish {
  const pin = header(TIER_HEADER) ?? null;
  const needs = header(NEEDS_HEADER) ?? null;
  if (pin === null && needs === null) return NO_WISH;
  return { pin: pin === null ? null : pin.trim(), needs: needs === null ? [] : named(needs.split(",")) };
}

/** The same from the headers of a request that is about to be sent, which go no further. */
export function takeWish(headers: Headers): Wish {
  const wish = wishIn((name) => headers.get(name));
  headers.delete(TIER_HEADER);
  headers.delete(NEEDS_HEADER);
  return wish;
}

/** Reads what stands in a request under `bursar`: `{ tier: "large", needs: ["tools"] }`. */
export function readWish(value: unknown, field: string): Wish {
  if (value === undefined || value === null) return NO_WISH;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: an object such as { tier: "large" }`);
  }
  const { tier = null, needs = [] } = value as { readonly tier?: unknown; readonly needs?: unknown };
  if (tier !== null && typeof tier !== "string") {
    throw new InputError(`${field}.tier`, `is ${show(tier)}; allowed: the name of a tier`);
  }
  if (!Array.isArray(needs) || !needs.every((need) => typeof need === "string")) {
    throw new InputError(`${field}.needs`, `are ${show(needs)}; allowed: a list of capabilities`);
  }
  return { pin: tier, needs: named(needs) };
}

function named(needs: readonly string[]): readonly string[] {
  return needs
    .map((need) => need.trim())
    .filter((need) => need !== "")
    .slice(0, MOST_NEEDS);
}
