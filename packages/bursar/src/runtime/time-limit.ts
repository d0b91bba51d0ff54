import { type BudgetId, DEADLINE, type Path } from "../core/budget.js";
import type { Dimensions } from "../core/dimensions.js";
import { BursarError } from "../core/errors.js";
import { timeLeft } from "../core/time-left.js";
import type { Clock } from "../ports/clock.js";
import type { Timer } from "../ports/timer.js";
import { offAbort, onAbort } from "./abort-listeners.js";

/** The reason of a signal that fires because a clock or a deadline has run out. */
export class OutOfTime extends BursarError {
  override readonly name: string = "OutOfTime";
  /** The budget that has no time left, and what of it has run out: a clock or its deadline. Null where nobody knows. */
  readonly spent: { readonly budget: BudgetId; readonly dimension: string } | null;

  constructor(spent: OutOfTime["spent"] = null) {
    const which = spent === null ? "" : `: ${spent.dimension} of budget ${spent.budget}`;
    super("out_of_time", `the budget's time has run out while the call was being made${which}`);
    this.spent = spent;
  }
}

const AGAIN_MS = 200;
const MOST_FAILURES = 10;

interface Surroundings {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly dimensions: Dimensions;
  /** The path as it stands, because an extension or a pause may have come in between. */
  readonly path: () => Promise<Path>;
}

/** A signal that fires when a clock or a deadline on the path runs out, or when the caller's own does. */
export class TimeLimit implements Disposable {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly around: Surroundings;
  private readonly outer: AbortSignal | undefined;
  private alarm: Disposable | null = null;
  private over = false;
  private failures = 0;

  /** `left` is what the path has left, where it is known; the path itself is only looked at where that is nothing. */
  constructor(
    around: Surroundings,
    path: Path,
    outer?: AbortSignal,
    left: number = timeLeft(path, around.clock.now(), around.dimensions),
  ) {
    this.around = around;
    this.outer = outer;
    this.signal = this.controller.signal;
    if (outer?.aborted) this.controller.abort(outer.reason);
    onAbort(outer, this.follow);
    this.arm(left, path);
  }

  [Symbol.dispose](): void {
    this.over = true;
    this.alarm?.[Symbol.dispose]();
    offAbort(this.outer, this.follow);
  }

  private readonly follow = () => this.controller.abort(this.outer?.reason);

  private arm(left: number, path: Path): void {
    if (left === Number.POSITIVE_INFINITY || this.over) return;
    const { dimensions, clock } = this.around;
    if (left <= 0) this.controller.abort(new OutOfTime(spentIn(path, dimensions, clock)));
    else this.alarm = this.around.timer.after(left, () => void this.ring());
  }

  private async ring(): Promise<void> {
    try {
      const { dimensions, clock } = this.around;
      const path = await this.around.path();
      this.arm(timeLeft(path, clock.now(), dimensions), path);
    } catch {
      // A store that is away for a moment says nothing about the time; one that stays away is asked a few times, and who
      // cannot ask how much time is left then has none.
      if (++this.failures > MOST_FAILURES) this.controller.abort(new OutOfTime());
      else if (!this.over) this.alarm = this.around.timer.after(AGAIN_MS, () => void this.ring());
    }
  }
}

/** Who has no time left. */
function spentIn(path: Path, dimensions: Dimensions, clock: Clock): OutOfTime["spent"] {
  const budget = path.find((_, index) => timeLeft(path.slice(0, index + 1), clock.now(), dimensions) <= 0);
  if (budget === undefined) return null;
  const { id, deadline, limits } = budget;
  if (deadline !== null && deadline <= clock.now().instant) return { budget: id, dimension: DEADLINE };
  const dimension = Object.keys(limits).find((name) => dimensions.has(name) && dimensions.get(name).kind === "clock");
  return dimension === undefined ? null : { budget: id, dimension };
}
