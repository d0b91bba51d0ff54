import type { Amount, Amounts } from "../../core/amount.js";
import { added, times } from "./share.js";
import type { Slice } from "./slice.js";

/** What a first slice holds, in calls like the first one. */
const FIRST = 16;
/** A slice that lasted for less than this part of its time was too small, one of which less than that was used too large. */
const SHORT = 1 / 16;
const UNUSED = 1 / 4;
/** No slice is larger than so many times the first one. */
const LARGEST = 4096;

/** How much a holder would like to have at once: more while slices do not last, less when they are not used. */
export class Wants {
  amounts: Amounts = {};
  private first: Amounts = {};

  /** Learns from the slice before, if there is one, and how long it lasted as a part of its time. */
  adapt(need: Amounts, before: Slice | undefined, lasted: number): void {
    if (before === undefined) {
      if (Object.keys(this.first).length === 0) this.first = need;
      this.amounts = added(times(this.first, FIRST), missing(need, this.first));
      return;
    }
    if (lasted < SHORT) this.amounts = capped(times(this.amounts, 2), times(this.first, LARGEST));
    else if (usedPart(before) < UNUSED) this.amounts = times(this.amounts, 1 / 2);
    this.amounts = added(this.amounts, missing(need, this.amounts));
    // What calls use without asking for it has to be in a slice too, or each of them would overdraw it.
    for (const [id, used] of Object.entries(before.usage())) {
      if (used > (this.amounts[id] ?? 0)) this.amounts = { ...this.amounts, [id]: (used * 2) as Amount };
    }
  }
}

/** The largest part of any dimension of a slice that was used. */
function usedPart(slice: Slice): number {
  const used = slice.usage();
  const parts = Object.entries(slice.granted).map(([id, granted]) => (granted === 0 ? 0 : (used[id] ?? 0) / granted));
  return Math.max(0, ...parts);
}

function missing(need: Amounts, known: Amounts): Amounts {
  return Object.fromEntries(Object.entries(need).filter(([id]) => known[id] === undefined));
}

function capped(amounts: Amounts, cap: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([id, amount]) => [id, Math.min(amount, cap[id] ?? amount) as Amount]),
  );
}
