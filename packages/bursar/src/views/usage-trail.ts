import type { JsonObject } from "../core/chain/canonical.js";
import type { Link } from "../core/chain/link.js";
import type { Dimensions } from "../core/dimensions.js";
import { Charges, rounded } from "./charges.js";
import type { Charge, Span } from "./projection.js";

/** A limit, from this instant on. */
interface LimitChange {
  readonly at: number;
  readonly dimension: string;
  /** In edge units. */
  readonly limit: number;
}

/** What is written when a run is taken over is no word of whoever drove it before. */
const TAKING_OVER: ReadonlySet<string> = new Set(["RunClaimed", "ClockPaused", "ClockResumed"]);

/** How a budget was used over time, from its chain, link by link. */
export class UsageTrail {
  readonly charges: Charge[] = [];
  readonly limits: LimitChange[] = [];
  private readonly budget: string;
  private readonly known: Charges;
  private readonly past: Span[] = [];
  private readonly ends = new Map<string, number>();
  private since: number | null = null;
  private last: string | null = null;
  /** When whoever drives it was last heard of. */
  private alive: number | null = null;

  constructor(budget: string, dimensions: Dimensions) {
    this.budget = budget;
    this.known = new Charges(dimensions);
  }

  /** When the clock ran. */
  get spans(): readonly Span[] {
    return this.since === null ? this.past : [...this.past, { from: this.since, to: null }];
  }

  /** When a dimension of a budget on the path was found to be used up, for the last time; null when it never was. */
  exhausted(budget: string, dimension: string): number | null {
    return this.ends.get(keyOf(budget, dimension)) ?? null;
  }

  take(link: Link): void {
    const { event, action_type, at, data } = link;
    if (event === "Consumption") this.charges.push({ at, amounts: this.known.added(link) });
    if (event === "Allocation" && data.run_id === this.budget) this.allocated(at, data.limits as JsonObject);
    if (event === "Exhausted") this.ends.set(keyOf(String(data.budget), String(data.dimension)), at);
    if (event === "Extended" && data.budget === this.budget) this.extended(at, data);
    if (event === "RunCompleted" && data.run_id === this.budget) this.stop(at);
    if (action_type === "ClockPaused" && data.budget === this.budget) this.stop(at);
    if (action_type === "ClockResumed" && data.budget === this.budget) this.start(at);
    if (!TAKING_OVER.has(action_type)) this.alive = at;
    this.last = action_type;
  }

  private allocated(at: number, limits: JsonObject): void {
    for (const [dimension, limit] of Object.entries(limits)) {
      this.limits.push({ at, dimension, limit: Number(limit) });
    }
    this.since = at;
  }

  private extended(at: number, { dimension, additional }: JsonObject): void {
    const before = this.limits.findLast((each) => each.dimension === dimension)?.limit ?? 0;
    this.limits.push({ at, dimension: String(dimension), limit: rounded(before + Number(additional)) });
  }

  private stop(at: number): void {
    if (this.since === null) return;
    this.past.push({ from: this.since, to: at });
    this.since = null;
  }

  private start(at: number): void {
    // A worker has died, and his run was taken over: the clock was set back to when he was last heard of, which the chain
    // knows by his last link.
    if (this.last === "ClockPaused") {
      const ended = this.past.pop();
      if (ended !== undefined) this.past.push({ from: ended.from, to: Math.max(ended.from, this.alive ?? at) });
    }
    this.since ??= at;
  }
}

function keyOf(budget: string, dimension: string): string {
  return `${dimension} ${budget}`;
}
