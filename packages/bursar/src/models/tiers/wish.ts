import { InputError, show } from "../../core/errors.js";

/** What a caller says about the tier of one call. */
export interface Wish {
  /** The name of the tier that it has to be; null when it is to be chosen. */
  readonly pin: string | null;
  /** What the call needs beside what shows in the request. */
  readonly needs: readonly string[];
  /** The name of the step that it is a part of, whose calls all stay at the tier of the first; null for none. */
  readonly step: string | null;
}

export const NO_WISH: Wish = { pin: null, needs: [], step: null };

/** The headers in which a call over HTTP says so. They are for us alone, and are not sent on. */
const TIER_HEADER = "x-bursar-tier";
const NEEDS_HEADER = "x-bursar-needs";
const STEP_HEADER = "x-bursar-step";
const MOST_NEEDS = 32;
/** It is written into the chain: so long at most, and nothing that cannot be written. */
const LONGEST_STEP = 200;
const STEP = /^[^\p{Cc}\p{Cs}]+$/u;

/** Reads a wish from headers, by whatever gives them by name. */
export function wishIn(header: (name: string) => string | null | undefined): Wish {
  const pin = header(TIER_HEADER) ?? null;
  const needs = header(NEEDS_HEADER) ?? null;
  const step = header(STEP_HEADER)?.trim().slice(0, LONGEST_STEP) ?? "";
  if (pin === null && needs === null && step === "") return NO_WISH;
  return {
    pin: pin === null ? null : pin.trim(),
    needs: needs === null ? [] : named(needs.split(",")),
    step: STEP.test(step) ? step : null,
  };
}

/** The same from the headers of a request that is about to be sent, which go no further. */
export function takeWish(headers: Headers): Wish {
  const wish = wishIn((name) => headers.get(name));
  headers.delete(TIER_HEADER);
  headers.delete(NEEDS_HEADER);
  headers.delete(STEP_HEADER);
  return wish;
}

/** Reads what stands in a request under `bursar`: `{ tier: "large", needs: ["tools"], step: "chapter 3" }`. */
export function readWish(value: unknown, field: string): Wish {
  if (value === undefined || value === null) return NO_WISH;
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: an object such as { tier: "large" }`);
  }
  const { tier = null, needs = [], step = null } = value as Readonly<Record<string, unknown>>;
  if (tier !== null && typeof tier !== "string") {
    throw new InputError(`${field}.tier`, `is ${show(tier)}; allowed: the name of a tier`);
  }
  if (!Array.isArray(needs) || !needs.every((need) => typeof need === "string")) {
    throw new InputError(`${field}.needs`, `are ${show(needs)}; allowed: a list of capabilities`);
  }
  return { pin: tier, needs: named(needs), step: readStep(step, `${field}.step`) };
}

/** Reads the name of a step. */
function readStep(step: unknown, field: string): string | null {
  if (step === null || step === undefined) return null;
  if (typeof step === "string" && step.length <= LONGEST_STEP && STEP.test(step)) return step;
  throw new InputError(
    field,
    `is ${show(step)}; allowed: a name of 1 to ${LONGEST_STEP} characters for calls that stay at one tier`,
  );
}

function named(needs: readonly string[]): readonly string[] {
  return needs
    .map((need) => need.trim())
    .filter((need) => need !== "")
    .slice(0, MOST_NEEDS);
}
