import { type Amounts, MAX_TOTAL } from "../../core/amount.js";
import type { Dimensions } from "../../core/dimensions.js";
import type { Prediction } from "../../ports/foresight.js";

/** What a part of a plan is expected to take, in ledger units. */
export interface Foreseen {
  readonly amounts: ReadonlyMap<string, Prediction>;
  /** What it takes no known amount of. */
  readonly open: ReadonlySet<string>;
  /** Why something is open, for people. */
  readonly why: ReadonlySet<string>;
}

/** Counted beside the dimensions, to be told to people. No dimension can be called so. */
export const COUNTS = ["tool calls", "model calls", "child runs"] as const;

/** Counted by whoever makes the calls, so that nobody else can use any of it. */
const OURS: ReadonlySet<string> = new Set(["steps", "subcalls", "depth", "iterations"]);

const NO_REASONS: ReadonlySet<string> = new Set();

export const NOTHING: Foreseen = { amounts: new Map(), open: new Set(), why: NO_REASONS };

/** Adds up what parts of a plan take. */
export class Sums {
  private readonly peaks: ReadonlySet<string>;
  private readonly all: ReadonlySet<string>;
  private readonly foreign: ReadonlySet<string>;

  constructor({ all }: Dimensions) {
    const ids = all.filter(({ kind }) => kind !== "clock").map(({ id }) => id);
    this.peaks = new Set(all.filter(({ kind }) => kind === "peak").map(({ id }) => id));
    this.all = new Set([...ids, ...COUNTS]);
    this.foreign = new Set(ids.filter((id) => !OURS.has(id)));
  }

  /** Exactly so much. */
  exactly(amounts: Amounts | Readonly<Record<string, number>>): Foreseen {
    const each = Object.entries(amounts).map(([id, value]) => [id, { median: value, upper: value }] as const);
    return { ...NOTHING, amounts: new Map(each) };
  }

  /** Nobody knows how much of these, which are all that others can use unless it is said. */
  open(why: string, ids: Iterable<string> = this.foreign): Foreseen {
    return { amounts: new Map(), open: new Set(ids), why: new Set([why]) };
  }

  /** Nothing at all is known. */
  everything(why: string): Foreseen {
    return this.open(why, this.all);
  }

  plus(one: Foreseen, other: Foreseen): Foreseen {
    if (one === NOTHING) return other;
    if (other === NOTHING) return one;
    const amounts = new Map(one.amounts);
    for (const [id, more] of other.amounts) {
      const known = amounts.get(id);
      amounts.set(id, known === undefined ? more : this.together(id, known, more));
    }
    return { amounts, open: union(one.open, other.open), why: union(one.why, other.why) };
  }

  /** One of these, each as likely as its weight says. What is not likely at all counts for the bound. */
  either(parts: readonly { readonly foreseen: Foreseen; readonly weight: number }[]): Foreseen {
    const whole = parts.reduce((sum, { weight }) => sum + weight, 0);
    const amounts = new Map<string, Prediction>();
    for (const { foreseen, weight } of parts) {
      for (const [id, { median, upper }] of foreseen.amounts) {
        const known = amounts.get(id) ?? { median: 0, upper: 0 };
        const share = whole === 0 ? 0 : weight / whole;
        amounts.set(id, { median: known.median + median * share, upper: Math.max(known.upper, upper) });
      }
    }
    const open = parts.reduce<ReadonlySet<string>>((all, { foreseen }) => union(all, foreseen.open), new Set());
    const why = parts.reduce<ReadonlySet<string>>((all, { foreseen }) => union(all, foreseen.why), NO_REASONS);
    return { amounts, open, why };
  }

  /** Again and again: so often as a rule, and no more often than that. */
  times(foreseen: Foreseen, often: number, most: number = often): Foreseen {
    if (most === 0) return NOTHING;
    const amounts = new Map<string, Prediction>();
    for (const [id, { median, upper }] of foreseen.amounts) {
      const isPeak = this.peaks.has(id);
      amounts.set(id, isPeak ? { median, upper } : { median: within(median * often), upper: within(upper * most) });
    }
    return { ...foreseen, amounts };
  }

  /** Again and again, and nobody knows how often. */
  endless(foreseen: Foreseen, why: string): Foreseen {
    const amounts = new Map<string, Prediction>();
    const open = new Set(foreseen.open);
    for (const [id, amount] of foreseen.amounts) {
      if (this.peaks.has(id) || amount.upper === 0) amounts.set(id, amount);
      else open.add(id);
    }
    return { amounts, open, why: open.size > 0 ? new Set([...foreseen.why, why]) : foreseen.why };
  }

  /** The same under limits that end it. Where only the limit is known, anything up to it is taken to be as likely. */
  capped(foreseen: Foreseen, limits: Amounts): Foreseen {
    const amounts = new Map(foreseen.amounts);
    const open = new Set(foreseen.open);
    const { steps } = limits;
    // Every call is a step, so that a limit of steps bounds them all.
    const counts = steps === undefined ? [] : COUNTS.map((count) => [count, steps] as const);
    for (const [id, limit] of [...Object.entries(limits), ...counts]) {
      if (this.peaks.has(id)) continue;
      const known = amounts.get(id);
      if (open.delete(id)) amounts.set(id, { median: (Math.min(known?.median ?? 0, limit) + limit) / 2, upper: limit });
      else if (known !== undefined) {
        amounts.set(id, { median: Math.min(known.median, limit), upper: Math.min(known.upper, limit) });
      }
    }
    return { amounts, open, why: open.size > 0 ? foreseen.why : NO_REASONS };
  }

  /** The same, where somebody else knows more of what is open. */
  filled(foreseen: Foreseen, stated: Readonly<Record<string, Prediction>>): Foreseen {
    const amounts = new Map(foreseen.amounts);
    const open = new Set(foreseen.open);
    for (const [id, prediction] of Object.entries(stated)) if (open.delete(id)) amounts.set(id, prediction);
    return { amounts, open, why: open.size > 0 ? foreseen.why : NO_REASONS };
  }

  private together(id: string, one: Prediction, other: Prediction): Prediction {
    if (!this.peaks.has(id))
      return { median: within(one.median + other.median), upper: within(one.upper + other.upper) };
    return { median: Math.max(one.median, other.median), upper: Math.max(one.upper, other.upper) };
  }
}

/** The same, one level further down. */
export function deeper(foreseen: Foreseen): Foreseen {
  const { median, upper } = foreseen.amounts.get("depth") ?? { median: 0, upper: 0 };
  return { ...foreseen, amounts: new Map([...foreseen.amounts, ["depth", { median: median + 1, upper: upper + 1 }]]) };
}

/** More than anybody can count is no amount any more; it has to stay a number all the same. */
function within(value: number): number {
  return Math.min(value, 2 * MAX_TOTAL);
}

function union<Item>(one: ReadonlySet<Item>, other: ReadonlySet<Item>): ReadonlySet<Item> {
  if (other.size === 0) return one;
  return one.size === 0 ? other : new Set([...one, ...other]);
}
