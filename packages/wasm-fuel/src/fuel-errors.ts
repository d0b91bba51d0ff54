/** Thrown out of a guest that has used up its budget. The guest cannot catch it. */
export class OutOfFuel extends Error {
  override readonly name = "OutOfFuel";
  readonly budget: number;
  /** What was really used: the budget, and the little that was executed before the guest looked at its fuel again. */
  readonly consumed: number;

  constructor(budget: number, consumed: number) {
    super(`the fuel budget of ${budget} is used up; give a larger one, or let the program do less`);
    this.budget = budget;
    this.consumed = consumed;
  }
}

/** Thrown out of a guest whose calls are nested too deeply. The guest cannot catch it. */
export class DepthExceeded extends Error {
  override readonly name = "DepthExceeded";
  readonly depth: number;
  readonly consumed: number;

  constructor(depth: number, consumed: number) {
    super(`calls are nested more than ${depth} deep; let the program recurse less`);
    this.depth = depth;
    this.consumed = consumed;
  }
}
