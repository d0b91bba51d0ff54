/** Something in a store that cannot be true, or cannot be known. */
export interface Defect {
  /** An error means that something was lost or changed; a warning, that something cannot be proven. */
  readonly severity: "error" | "warning";
  /** Which chain, budget or table. */
  readonly where: string;
  readonly problem: string;
  /** What to do about it. */
  readonly advice: string;
  /** Set where the store says one thing of a budget, and its chain another. */
  readonly difference?: Difference;
}

/** A figure of a budget as the store has it, and as it follows from the chain; amounts in the smallest unit. */
export interface Difference {
  readonly budget: string;
  readonly field: string;
  readonly store: DifferenceValue;
  readonly chain: DifferenceValue;
}

type DifferenceValue = string | number | boolean | null | readonly string[];

/** So many are listed; beyond that they are only counted, so that a ruined store does not fill the memory. */
const MOST_LISTED = 200;

const RESTORE = "restore a backup, and find out who can write to the store";

/** Collects what a check finds. */
export class Defects {
  readonly listed: Defect[] = [];
  errors = 0;
  warnings = 0;

  add(
    severity: Defect["severity"],
    where: string,
    problem: string,
    advice: string = RESTORE,
    difference?: Difference,
  ): void {
    if (severity === "error") this.errors++;
    else this.warnings++;
    const defect = { severity, where, problem, advice };
    if (this.listed.length < MOST_LISTED)
      this.listed.push(difference === undefined ? defect : { ...defect, difference });
  }

  /** Does a part of the work; what makes it impossible is a defect too, and the other parts are still done. */
  async during(where: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (code !== "store_damaged") throw error;
      this.add("error", where, (error as Error).message, "restore a backup");
    }
  }
}
