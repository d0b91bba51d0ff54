import type { OutgoingHttpHeaders } from "node:http";
import { covers, limitOf, type Path, usedOf } from "../core/budget.js";
import { type Dimension, writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Time } from "../core/time.js";

/** The dimensions of which headers tell: those a client can do something about. */
const SHOWN = ["cost_usd", "llm_tokens", "steps"];

/** One of them, with the headers that tell of it. */
interface Shown {
  readonly dimension: Dimension;
  readonly reserved: string;
  readonly used: string;
  readonly remaining: string;
}

/** What the headers of an answer say about the budget that pays for it. */
export class Figures {
  readonly dimensions: Dimensions;
  private readonly shown: readonly Shown[];

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
    const named = (word: string, id: string) => `x-bursar-${word}-${id.replaceAll("_", "-")}`;
    this.shown = SHOWN.filter((id) => dimensions.has(id)).map((id) => ({
      dimension: dimensions.get(id),
      reserved: named("reserved", id),
      used: named("used", id),
      remaining: named("remaining", id),
    }));
  }

  tell(headers: OutgoingHttpHeaders, word: "reserved" | "used", amounts: Readonly<Record<string, number>>): void {
    for (const shown of this.shown) {
      const { dimension } = shown;
      const amount = amounts[dimension.id];
      if (amount !== undefined) headers[shown[word]] = String(writeAmount(dimension, amount));
    }
  }

  /** The limit minus what is used, in the tightest budget of the path; 0 where that is overdrawn. */
  tellRemaining(headers: OutgoingHttpHeaders, path: Path, time: Time): void {
    for (const { dimension, remaining } of this.shown) {
      const { left } = leftOn(path, dimension, time);
      if (Number.isFinite(left)) headers[remaining] = String(writeAmount(dimension, Math.max(0, left)));
    }
  }
}

/** The least that is left of a dimension on a path, and where. Those above a budget whose limits they hold have nothing to say about it. */
export function leftOn(
  path: Path,
  dimension: Dimension,
  time: Time,
): { readonly left: number; readonly budget: string } {
  let least = { left: Number.POSITIVE_INFINITY, budget: "" };
  for (const budget of path) {
    const left = limitOf(budget, dimension.id) - usedOf(budget, dimension, time);
    if (left < least.left) least = { left, budget: budget.id };
    if (covers(budget, dimension.id)) break;
  }
  return least;
}
