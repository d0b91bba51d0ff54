import type { FuelWarning } from "./options.js";

/** At which percentages of its fuel a program is warned of, and how many of them it has been. It fits into a message. */
export interface WarnedOf {
  readonly thresholds: readonly number[];
  readonly told: number;
}

/** Tells of each threshold once, in order; of one that an extension has put ahead again, when it is crossed anew. */
export class Thresholds {
  private readonly thresholds: readonly number[];
  private readonly tell: (warning: FuelWarning) => void;
  private told: number;

  constructor({ thresholds, told }: WarnedOf, tell: (warning: FuelWarning) => void) {
    this.thresholds = thresholds;
    this.told = told;
    this.tell = tell;
  }

  /** To be called whenever more may have been burnt, or may be. */
  look(consumed: number, budget: number): void {
    const isCrossed = (at: number) => consumed / budget >= (this.thresholds[at] ?? Number.POSITIVE_INFINITY) / 100;
    while (this.told > 0 && !isCrossed(this.told - 1)) this.told -= 1;
    for (; isCrossed(this.told); this.told += 1) {
      const threshold = this.thresholds[this.told] as number;
      // The last steps may go a little over the budget; nobody is charged for them.
      this.tell({ threshold, consumed: Math.min(consumed, budget), budget });
    }
  }
}
