import type { WasmGlobal, WasmInstance } from "./engine.js";
import { DepthExceeded, OutOfFuel } from "./fuel-errors.js";
import { setHook } from "./hook.js";
import { PRIVATE } from "./rewriter/layout.js";

export interface FuelOptions {
  /** How much the guest may use. */
  readonly budget: number;
  /** How much it gets at a time; after each slice the host has a say. */
  readonly slice?: number;
  /**
   * Runs whenever a slice is used up, with what has been consumed. It may throw, which stops the guest, and may extend the
   * budget.
   */
  readonly onSlice?: (consumed: number) => void;
}

/** A few milliseconds of a guest's work: often enough for a deadline, too rare to be felt. */
const DEFAULT_SLICE = 10_000_000;

/**
 * The fuel of one instance of a metered module.
 *
 * When an export has returned, and no other is running, `consumed` is exact: the sum of the cost table over everything that was
 * executed. In between, at a call of the host or in `onSlice`, it lacks or anticipates parts of the functions that are still
 * open, a few hundred units each. It is the same every time, in every process and with every size of slice, and so is the place
 * where the budget ends. When the guest traps, the open parts stay uncounted: also those of a loop that calls nothing, which
 * counts by itself and reports at most a slice later.
 *
 * ```ts
 * const fuel = new Fuel(instance);
 * fuel.begin({ budget: 1_000_000_000, onSlice: () => signal.throwIfAborted() });
 * instance.exports.run();
 * const total = fuel.end();
 * ```
 */
export class Fuel {
  private readonly counter: WasmGlobal<bigint>;
  private readonly depthLeft: WasmGlobal<number> | null;
  private readonly depth: number;
  private readonly startFunction: (() => void) | null;
  private budget = 0;
  private slice = DEFAULT_SLICE;
  private onSlice: ((consumed: number) => void) | null = null;
  /** What has been put into the counter so far. */
  private granted = 0;
  private isExhausted = false;

  constructor(instance: WasmInstance) {
    const { exports } = instance;
    setHook(instance, (pending) => this.refill(Number(pending)));
    this.counter = exports[PRIVATE.fuel] as WasmGlobal<bigint>;
    this.depthLeft = (exports[PRIVATE.depth] as WasmGlobal<number> | undefined) ?? null;
    this.depth = this.depthLeft?.value ?? 0;
    this.startFunction = (exports[PRIVATE.start] as (() => void) | undefined) ?? null;
  }

  /** Starts to count anew, with a new budget. Whatever the guest was doing before is taken to be over. */
  begin({ budget, slice = DEFAULT_SLICE, onSlice }: FuelOptions): void {
    checkAmount("budget", budget);
    checkAmount("slice", slice);
    if (slice === 0) throw new RangeError("the slice is 0; give at least 1");
    this.budget = budget;
    this.slice = slice;
    this.onSlice = onSlice ?? null;
    this.granted = Math.min(budget, slice);
    this.isExhausted = false;
    this.counter.value = BigInt(this.granted);
    if (this.depthLeft !== null) this.depthLeft.value = this.depth;
  }

  /** Runs the module's start function, if it has one. Once per instance, before anything else. */
  start(): void {
    this.startFunction?.();
  }

  /** Ends the count and gives the exact total. Throws `OutOfFuel` if the last steps went over the budget. */
  end(): number {
    if (this.counted > this.budget) throw this.exhaust(this.counted);
    return this.counted;
  }

  /** What has been consumed. Once the fuel has run out, this is the budget itself. */
  get consumed(): number {
    return this.isExhausted ? this.budget : this.counted;
  }

  /** What has been consumed as it was counted: after the end of the fuel a little more than the budget. */
  get counted(): number {
    return this.granted - Number(this.counter.value);
  }

  /** What the budget is now, with its extensions. */
  get limit(): number {
    return this.budget;
  }

  /** Adds to the budget, also while the guest is running. */
  extend(more: number): void {
    checkAmount("extension", more);
    checkAmount("budget", this.budget + more);
    this.budget += more;
  }

  /** Charges for work that the host does for the guest. Throws `OutOfFuel` when that is more than is left. */
  charge(units: number): void {
    checkAmount("charge", units);
    this.counter.value -= BigInt(units);
    if (this.counter.value < 0n) this.refill(0);
  }

  /**
   * Calls back into the guest while one of its calls is open. When that throws and the outer call goes on, the depth of calls is
   * what it was.
   */
  reenter<T>(call: () => T): T {
    const depth = this.depthLeft?.value ?? 0;
    try {
      return call();
    } catch (error) {
      if (this.depthLeft !== null) this.depthLeft.value = depth;
      throw error;
    }
  }

  /** Called by the guest when less is left in the counter than it has executed and not charged yet. */
  private refill(pending: number): void {
    if (this.depthLeft !== null && this.depthLeft.value < 0) throw new DepthExceeded(this.depth, this.counted);
    this.onSlice?.(this.counted + pending);
    const missing = pending - Number(this.counter.value);
    const left = this.budget - this.granted;
    if (missing > left) throw this.exhaust(this.counted + pending);
    const grant = Math.min(left, Math.max(this.slice, missing));
    this.granted += grant;
    this.counter.value += BigInt(grant);
  }

  private exhaust(consumed: number): OutOfFuel {
    this.isExhausted = true;
    return new OutOfFuel(this.budget, consumed);
  }
}

function checkAmount(what: string, amount: number): void {
  if (Number.isSafeInteger(amount) && amount >= 0) return;
  throw new RangeError(`the ${what} is ${amount}; give a whole number from 0 to 2^53 - 1`);
}
