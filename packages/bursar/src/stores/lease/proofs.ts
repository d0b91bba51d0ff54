import type { Amount, Amounts } from "../../core/amount.js";
import type { BudgetId } from "../../core/budget.js";
import type { Json } from "../../core/chain/canonical.js";
import type { Dimensions } from "../../core/dimensions.js";
import { zeros } from "./share.js";

/** What is noted of a slice: that it was granted, what calls did with it, that it was given back. */
export type Note = readonly Json[];

/** What notes say of one slice that was not given back. */
interface Proved {
  readonly budget: BudgetId;
  readonly expires: number;
  readonly granted: Amounts;
  /** What its settled calls were charged, dimension by dimension. */
  used: Amounts;
  /** Those under way. */
  readonly calls: Map<string, Open>;
}

/** A slice that was not given back, until when it is its holder's, and what it is charged if he is dead. */
export interface Left extends Pick<Proved, "budget" | "expires" | "used"> {
  readonly call: string;
}

interface Open {
  readonly kind: string;
  readonly asked: Amounts;
}

/**
 * What a list of notes comes to. Whoever writes them keeps the same sum as whoever reads them after a crash, so that it can be
 * written down anew in a few notes when there are many.
 */
export class Proofs {
  private readonly slices = new Map<string, Proved>();
  private readonly dimensions: Dimensions;

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
  }

  /** Whether every slice was given back. */
  get isEmpty(): boolean {
    return this.slices.size === 0;
  }

  take([what, call, ...rest]: Note): void {
    const name = String(call);
    const slice = this.slices.get(name);
    if (what === "granted") {
      const [budget, expires, granted] = rest as unknown as [string, number, Amounts];
      this.slices.set(name, { budget, expires, granted, used: zeros(granted), calls: new Map() });
    } else if (slice === undefined) return;
    else if (what === "returned") this.slices.delete(name);
    else if (what === "used") slice.used = rest[0] as unknown as Amounts;
    else if (what === "reserved") {
      const [id, kind, asked] = rest as unknown as [string, string, Amounts];
      slice.calls.set(id, { kind, asked });
    } else if (what === "settled") {
      const [id, charged, before = {}] = rest as unknown as [string, Amounts, Amounts | undefined];
      slice.calls.delete(id);
      slice.used = this.counted(slice.used, charged, before);
    } else if (what === "moved") this.move(name, slice, this.slices.get(String(rest[0])));
  }

  /** The fewest notes that come to the same. */
  *notes(): Iterable<Note> {
    for (const [name, { budget, expires, granted, used, calls }] of this.slices) {
      yield ["granted", name, budget, expires, { ...granted }];
      yield ["used", name, { ...used }];
      for (const [id, { kind, asked }] of calls) yield ["reserved", name, id, kind, { ...asked }];
    }
  }

  /** What is left to settle if the holder is dead. */
  *left(): Iterable<Left> {
    for (const [call, { budget, expires, used: settled, calls }] of this.slices) {
      let used = settled;
      // A model may have answered; whatever else was under way is given back.
      for (const { kind, asked } of calls.values()) if (kind === "model") used = this.counted(used, asked, {});
      yield { call, budget, expires, used };
    }
  }

  /** Calls under way went on in another slice; what was settled before stays with the first, which was given back. */
  private move(name: string, from: Proved, to: Proved | undefined): void {
    for (const [id, call] of from.calls) to?.calls.set(id, call);
    this.slices.delete(name);
  }

  /** Sums add up, less what was charged for the same call before; of peaks the highest counts. */
  private counted(base: Amounts, more: Amounts, before: Amounts): Amounts {
    const after: Record<string, Amount> = { ...base };
    for (const id in { ...before, ...more }) {
      const known = after[id] ?? 0;
      const amount = more[id] ?? 0;
      const peak = this.dimensions.has(id) && this.dimensions.get(id).kind === "peak";
      after[id] = (peak ? Math.max(known, amount) : known + amount - (before[id] ?? 0)) as Amount;
    }
    return after;
  }
}
