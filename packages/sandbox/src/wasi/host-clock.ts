import { hrtime } from "node:process";
import type { Moment } from "./inode.js";

const NS_PER_MS = 1_000_000n;

/** A clock that depends on nothing but how often it is read, so that a run can be repeated to the last bit. */
interface FixedClock {
  readonly kind: "fixed";
  /** Nanoseconds since 1970 at the start. */
  readonly startNs: bigint;
  /** How far each reading moves it, so that a guest that waits for the clock gets there. */
  readonly stepNs: bigint;
}

/** The host's clock, a fixed one, or a function that tells nanoseconds since 1970. */
export type ClockOption = "real" | FixedClock | (() => bigint);

/** What is kept of a clock. */
export interface SavedClock {
  readonly realtimeNs: bigint;
  readonly monotonicNs: bigint;
}

/** The time as a guest sees it. Running time starts at 0, never goes back, and goes on where it was saved. */
export class HostClock {
  private readonly option: ClockOption;
  /** Where a fixed clock stands. */
  private fixedNs = 0n;
  /** What is added to the running time of the source. */
  private readonly offsetNs: bigint;
  private lastNs = 0n;

  constructor(option: ClockOption, saved?: SavedClock) {
    this.option = option;
    if (typeof option === "object") this.fixedNs = saved?.realtimeNs ?? option.startNs;
    this.offsetNs = (saved?.monotonicNs ?? 0n) - this.source();
    this.lastNs = saved?.monotonicNs ?? 0n;
  }

  realtime(): bigint {
    this.step();
    return this.wall();
  }

  monotonic(): bigint {
    this.step();
    return this.running();
  }

  /** The time that a file is stamped with; a fixed clock does not move for it. */
  stamp(): Moment {
    return this.option === "real" ? Date.now() : this.wall();
  }

  /** The smallest difference that a guest can tell. */
  resolution(isWall: boolean): bigint {
    if (typeof this.option === "object") return this.option.stepNs > 0n ? this.option.stepNs : 1n;
    return isWall ? NS_PER_MS : 1n;
  }

  /** Lets time go by on a fixed clock; gives false when somebody has to wait for real. */
  pass(ns: bigint): boolean {
    if (typeof this.option !== "object") return false;
    this.fixedNs += ns;
    return true;
  }

  save(): SavedClock {
    return { realtimeNs: this.wall(), monotonicNs: this.running() };
  }

  private step(): void {
    if (typeof this.option === "object") this.fixedNs += this.option.stepNs;
  }

  private wall(): bigint {
    if (this.option === "real") return BigInt(Date.now()) * NS_PER_MS;
    return typeof this.option === "function" ? this.option() : this.fixedNs;
  }

  private running(): bigint {
    const now = this.source() + this.offsetNs;
    if (now > this.lastNs) this.lastNs = now;
    return this.lastNs;
  }

  private source(): bigint {
    return this.option === "real" ? hrtime.bigint() : this.wall();
  }
}
