import type { Spend, Value } from "./value.js";

/**
 * What a function of the library gives, as far as that follows from what is known of its arguments; undefined where it does
 * not, or where it would fail. It never says anything else than the guest's own code would.
 */
export type Pure = (args: readonly Value[], spend: Spend) => Value | undefined;

/** A list or a text that is longer than this is not made: what is done with it would take too long. */
export const MOST_ELEMENTS = 10_000;
export const MOST_CHARACTERS = 1_000_000;
