import type { Recording, Remaining, Usage } from "../../src/controller/controller.js";

/** What a controller limits, as plain numbers: cost in billionths, infinite for no limit. */
export interface Limits {
  readonly cost: number;
  readonly tokens: number;
  readonly time: number;
  readonly depth: number;
  readonly iterations: number;
}

const HELD = ["cost", "tokens"] as const;
const USD = 1e9;

/**
 * What a controller must answer, said as naively as possible: nothing is kept that can be added up again from the whole
 * tree. A child whose parent is exhausted has limits of 0.
 */
export class Model {
  readonly limits: Limits;
  readonly parent: Model | null;
  readonly children: Model[] = [];
  readonly warned = new Set<string>();
  /** What was found exhausted when somebody wanted to attach. */
  private readonly recorded = new Set<string>();
  private readonly since: number;
  private until: number | null = null;
  private readonly own = { cost: 0, inputTokens: 0, outputTokens: 0, iterations: 0, subcalls: 0 };
  /** The levels it has told of. */
  private readonly levels: number[] = [];

  /** Whether its parent was exhausted when it came. */
  private readonly empty: boolean;

  constructor(limits: Limits, now: number, parent: Model | null = null, empty = false) {
    this.empty = empty;
    this.limits = limits;
    this.since = now;
    this.parent = parent;
    parent?.children.push(this);
  }

  get ended(): boolean {
    return this.until !== null;
  }

  get busy(): boolean {
    return this.children.some((child) => !child.ended);
  }

  end(now: number): void {
    this.until ??= now;
  }

  record({ cost = 0, inputTokens = 0, outputTokens = 0, iteration, subcall, depth }: Recording): void {
    this.own.cost += Math.round(cost * USD);
    this.own.inputTokens += inputTokens;
    this.own.outputTokens += outputTokens;
    if (iteration) this.own.iterations++;
    if (subcall) this.own.subcalls++;
    if (depth !== undefined) this.levels.push(depth);
  }

  usage(now: number): Usage {
    const sum = (of: (usage: Usage) => number) => this.children.reduce((all, child) => all + of(child.usage(now)), 0);
    const inputTokens = this.own.inputTokens + sum((usage) => usage.inputTokens);
    const outputTokens = this.own.outputTokens + sum((usage) => usage.outputTokens);
    return {
      cost: (this.own.cost + Math.round(sum((usage) => usage.cost) * USD)) / USD,
      tokens: inputTokens + outputTokens,
      inputTokens,
      outputTokens,
      duration: (this.until ?? now) - this.since,
      iterations: this.own.iterations,
      subcalls: this.own.subcalls + sum((usage) => usage.subcalls),
      maxDepthReached: Math.max(0, ...this.levels),
    };
  }

  /** Used, in the units of `limits`. */
  used(what: keyof Limits, now: number): number {
    const { cost, tokens, duration, iterations } = this.usage(now);
    return { cost: Math.round(cost * USD), tokens, time: duration, iterations, depth: 0 }[what];
  }

  /** Left, in the units of `limits`. */
  free(what: keyof Limits, now: number): number {
    if (this.ended) return 0;
    if (what === "depth") return this.limits.depth;
    const held = HELD.some((id) => id === what) ? this.held(what, now) : 0;
    const own = Math.max(0, this.limits[what] - this.used(what, now) - held);
    return what === "time" && this.parent !== null ? Math.min(own, this.parent.free(what, now)) : own;
  }

  private held(what: keyof Limits, now: number): number {
    const holders = this.children.filter((child) => !child.ended && Number.isFinite(child.limits[what]));
    return holders.reduce((all, child) => all + Math.max(0, child.limits[what] - child.used(what, now)), 0);
  }

  remaining(now: number): Remaining {
    const read = (what: keyof Limits) => {
      const free = this.free(what, now);
      return free === Number.POSITIVE_INFINITY ? null : free;
    };
    const cost = read("cost");
    return {
      cost: cost === null ? null : cost / USD,
      tokens: read("tokens"),
      time: read("time"),
      depth: read("depth"),
      iterations: read("iterations"),
    };
  }

  canProceed(operation: "iteration" | "subcall", depth: number, now: number): boolean {
    const room = (what: keyof Limits) => this.hasRoom(what, now);
    if (this.ended || !room("cost") || !room("tokens") || !room("time")) return false;
    return operation === "iteration" ? room("iterations") : depth < this.limits.depth;
  }

  blockReason(now: number): string | null {
    if (this.empty && this.parent !== null) return this.parent.blockReason(now);
    if (!this.hasRoom("cost", now)) return "Cost budget exhausted";
    if (!this.hasRoom("tokens", now)) return "Token budget exhausted";
    if (!this.hasRoom("time", now)) return "Time budget exhausted";
    return this.hasRoom("iterations", now) ? null : "Max iterations reached";
  }

  /** What is held for a child is of no use to it once the exhaustion of one above is on record. */
  private hasRoom(what: keyof Limits, now: number): boolean {
    const held = HELD.some((id) => id === what);
    for (let above = this.parent; above !== null && held; above = above.parent) {
      if (above.used(what, now) > above.limits[what] || above.recorded.has(what)) return false;
    }
    return this.free(what, now) > 0;
  }

  /** The child a sub-budget `offered` at some moment makes now. */
  attach(offered: Limits, now: number): Model {
    const spent = (what: keyof Limits) =>
      (this.limits[what] > 0 || this.used(what, now) > 0) && this.used(what, now) >= this.limits[what];
    for (const what of HELD) if (!this.empty && spent(what)) this.recorded.add(what);
    const exhausted = this.empty || HELD.some(spent) || this.free("time", now) === 0;
    const clip = (what: keyof Limits) => (exhausted ? 0 : Math.min(offered[what], this.free(what, now)));
    const limits = {
      cost: clip("cost"),
      tokens: clip("tokens"),
      time: clip("time"),
      depth: exhausted ? 0 : offered.depth,
      iterations: exhausted ? 0 : offered.iterations,
    };
    return new Model(limits, now, this, exhausted);
  }

  offer(depth: number, now: number): Limits {
    const half = (what: keyof Limits) => Math.floor(this.free(what, now) / 2);
    return {
      cost: half("cost"),
      tokens: half("tokens"),
      time: half("time"),
      depth: Math.max(0, this.limits.depth - depth - 1),
      iterations: Math.ceil(this.limits.iterations / 2),
    };
  }

  /** The warnings that have become due. */
  warnings(now: number): readonly string[] {
    if (this.ended) return [];
    const subjects = { cost: "Cost", tokens: "Tokens", time: "Time" } as const;
    return (["cost", "tokens", "time"] as const).flatMap((what) => {
      const limit = this.limits[what];
      const used = this.used(what, now);
      if (limit === 0 || this.warned.has(what) || used * 100 < limit * 80) return [];
      this.warned.add(what);
      return [`${subjects[what]} at ${Math.round((used * 100) / limit)}% of budget`];
    });
  }
}
