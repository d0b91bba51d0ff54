import { MAX_AMOUNT } from "../core/amount.js";
import type { Link } from "../core/chain/link.js";
import { usd } from "../core/decimal.js";
import { writeAmount } from "../core/dimension.js";
import { STANDARD } from "../core/dimensions.js";

const COST = STANDARD.get("cost_usd");
const MOST_USD = writeAmount(COST, MAX_AMOUNT);
/** A settlement that had to be written twice stands close to itself. */
const MOST_REMEMBERED = 10_000;

/** The action of a link that says what a call did not cost. */
export const SAVED = "Saved";

/** What links say was saved, each call once. */
export class Saved {
  /** In billionths of a dollar, because sums must add up. */
  nano = 0;
  private readonly calls = new Set<string>();

  get usd(): number {
    return writeUsd(this.nano);
  }

  /** Gives how much a link has added. What is no amount saves nothing, and takes nothing back. */
  take({ action_type, data }: Pick<Link, "action_type" | "data">): number {
    const { saved_usd, call_id } = data;
    if (action_type !== SAVED || typeof saved_usd !== "number" || !(saved_usd > 0) || saved_usd > MOST_USD) return 0;
    if (typeof call_id === "string") {
      if (this.calls.has(call_id)) return 0;
      this.calls.add(call_id);
      for (const oldest of this.calls) if (this.calls.size > MOST_REMEMBERED) this.calls.delete(oldest);
    }
    const nano = usd(saved_usd);
    this.nano += nano;
    return nano;
  }
}

/** Billionths of a dollar in dollars, as people read them. */
export function writeUsd(nano: number): number {
  return writeAmount(COST, nano);
}
