import type { Amounts } from "../../../core/amount.js";
import { parseLine } from "../../../core/chain/link.js";
import { readAmount } from "../../../core/dimension.js";
import type { Dimensions } from "../../../core/dimensions.js";

interface Difference {
  readonly id: string;
  /** What the budget's row says. */
  readonly stated: number;
  /** What the links say. */
  readonly recorded: number;
}

/** The extensions that chains record, by budget. People grant them, so there are few. */
export class Extensions {
  private readonly dimensions: Dimensions;
  private readonly recorded = new Map<string, Map<string, number>>();

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
  }

  /** Takes a line of a chain, whatever it is. */
  see(line: string): void {
    // No string inside the line can look like this, because its quotes would be escaped.
    if (!line.includes('"event":"Extended"')) return;
    try {
      const { event, data } = parseLine(line);
      const { budget, dimension, additional } = data;
      if (event !== "Extended" || typeof budget !== "string" || typeof dimension !== "string") return;
      if (!this.dimensions.has(dimension)) return;
      const amount = readAmount(this.dimensions.get(dimension), additional, "up", dimension);
      const amounts = this.recorded.get(budget) ?? new Map<string, number>();
      amounts.set(dimension, (amounts.get(dimension) ?? 0) + amount);
      this.recorded.set(budget, amounts);
    } catch {
      // A line that cannot be read is found by the verification of its chain.
    }
  }

  /** Where a budget says something else than its chain. Dimensions that are not known here are not compared. */
  *differences(budget: string, extended: Amounts): Generator<Difference> {
    const recorded = this.recorded.get(budget) ?? new Map<string, number>();
    for (const id of new Set([...Object.keys(extended), ...recorded.keys()])) {
      const stated = extended[id] ?? 0;
      const known = recorded.get(id) ?? 0;
      if (stated !== known && this.dimensions.has(id)) yield { id, stated, recorded: known };
    }
  }
}
