import fc from "fast-check";
import { expect, test } from "vitest";
import type { Amount, Amounts } from "../../src/core/amount.js";
import type { Budget } from "../../src/core/budget.js";
import type { Grant, Opening } from "../../src/core/children.js";
import type { Decision } from "../../src/core/decision.js";
import { defineDimension } from "../../src/core/dimension.js";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import type { ExhaustionPolicy } from "../../src/core/policy.js";
import { BudgetTree } from "./budget-tree.js";
import { type Answer, type Figures, lineage, Naive, type Node, type Said } from "./naive.js";

const ALL = [
  ...STANDARD.all,
  defineDimension({ id: "emails_sent", kind: "sum" }),
  defineDimension({ id: "open_tabs", kind: "peak", defaultPolicy: "approval_required" }),
];
// Few dimensions of each kind, and small amounts, so that histories run into each other.
const SUMS = ["steps", "llm_tokens", "cost_usd", "emails_sent"];
const PEAKS = ["depth", "open_tabs"];
const CLOCKS = ["wall_clock_ms"];

const amountOf = (max: number) => fc.integer({ min: 0, max }) as fc.Arbitrary<number> as fc.Arbitrary<Amount>;
const some = (ids: readonly string[], max: number): fc.Arbitrary<Amounts> =>
  fc.dictionary(fc.constantFrom(...ids), amountOf(max), { maxKeys: 4, noNullPrototype: true });
// Tight limits run into each other, wide ones leave room for many calls before anything has to be told.
const limits = fc.oneof(some([...SUMS, ...PEAKS, ...CLOCKS], 40), some([...SUMS, ...PEAKS, ...CLOCKS], 1000));
const policy = fc.constantFrom<ExhaustionPolicy>("hard_stop", "approval_required", "soft_warn");
const policies = fc.dictionary(fc.constantFrom(...SUMS, ...PEAKS, ...CLOCKS), policy, {
  maxKeys: 3,
  noNullPrototype: true,
});
const pick = fc.nat(1000);

// Much time and little else, so that calls run into the time that only the final answer may use.
const setAside = fc.tuple(some(SUMS, 5), some(CLOCKS, 40)).map(([sums, clocks]): Amounts => ({ ...sums, ...clocks }));
const grant: fc.Arbitrary<Grant> = fc.oneof(
  fc.record({ kind: fc.constant("limits" as const), limits, clamp: fc.boolean() }),
  fc.record({ kind: fc.constant("fraction" as const), of: fc.constantFrom(0.25, 0.5, 1) }),
  fc.record({ kind: fc.constant("wrap_up" as const), amounts: setAside }),
);
const thresholds = fc.constantFrom([50, 80], [80], [], [10, 20, 99]);

const action = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("open" as const),
      under: fc.option(pick),
      grant,
      policies,
      thresholds,
      scope: fc.constantFrom("run" as const, "shared" as const),
      deadline: fc.option(fc.integer({ min: 0, max: 300 }), { freq: 8 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("reserve" as const),
      in: pick,
      asked: some([...SUMS, ...PEAKS], 12),
      expires: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 0, max: 200 })),
      charged: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("commit" as const),
      call: pick,
      used: some([...SUMS, ...PEAKS], 12),
      exact: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const), call: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("charge" as const), in: pick, used: some([...SUMS, ...PEAKS], 12) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("correct" as const), in: pick, by: fc.integer({ min: -3, max: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("extend" as const),
      in: pick,
      more: some([...SUMS, ...PEAKS, ...CLOCKS], 20),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("time" as const),
      // Halves, because clocks count whole milliseconds; backwards, because a reading may come late.
      ms: fc.integer({ min: -4, max: 30 }).map((halves) => halves / 2),
      jump: fc.oneof(fc.constant(0), fc.integer({ min: -20, max: 20 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("pause" as const, "resume" as const, "end" as const, "tick" as const),
      in: pick,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("decide" as const), in: pick, asked: some([...SUMS, ...PEAKS], 12) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** The rules of the core and the naive model living through the same history. */
class Pair {
  private readonly told: Said[] = [];
  private readonly dimensions: Dimensions;
  private readonly tree: BudgetTree;
  private readonly naive: Naive;
  private monotonic = 0;
  private instant = 0;

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
    this.tree = new BudgetTree(dimensions, ({ limit: _, ...said }) => {
      this.told.push(said);
    });
    this.naive = new Naive(dimensions);
  }

  run(action: Action): void {
    if (action.do === "open") this.open(action);
    else if (action.do === "commit" || action.do === "release") this.settle(action);
    else if (action.do === "sweep") this.sweep();
    else if (action.do === "time") this.pass(action);
    else this.call(action);
    const { said } = this.naive;
    if (this.told.length + said.length > 0) expect(inOrder(this.told)).toEqual(inOrder(said));
    this.told.length = 0;
    said.length = 0;
  }

  /** What is done in one living budget. */
  private call(action: Extract<Action, { in: number }>): void {
    const living = this.naive.nodes.filter(({ ended }) => !ended);
    const node = living[action.in % living.length];
    if (node === undefined) return;
    switch (action.do) {
      case "reserve":
        this.reserve(action, node);
        break;
      case "charge":
        this.tree.charge(node.id, action.used);
        this.naive.charge(node, action.used);
        break;
      case "correct":
        this.correct(action.by, node);
        break;
      case "extend":
        this.extend(action.more, node);
        break;
      case "decide":
        expect(plain(this.tree.decide(node.id, action.asked))).toEqual(this.naive.peek(node, action.asked));
        break;
      default:
        this.live(action.do, node);
    }
  }

  /** Every figure of every budget is the same. */
  check(): void {
    const ours = this.naive.nodes.map((node) => this.figures(this.tree.budget(node.id), node));
    expect(ours).toEqual(this.naive.nodes.map((node) => this.naive.figures(node)));
  }

  private figures({ limits, extended, used, reserved, aside, exhausted, open }: Budget, node: Node): Figures {
    const columns = this.dimensions.all.map((dimension) => {
      const { id, kind } = dimension;
      const limit = (limits[id] ?? Number.POSITIVE_INFINITY) + (extended[id] ?? 0);
      // A clock runs by itself, so that a budget keeps no figure to compare.
      const spent = kind === "clock" ? this.naive.used(node, dimension) : (used[id] ?? 0);
      return { id, limit, used: spent, reserved: reserved[id] ?? 0, aside: aside[id] ?? 0 };
    });
    return { budget: node.id, columns, exhausted: [...exhausted].sort(), open };
  }

  private open(action: Action & { do: "open" }): void {
    const living = this.naive.nodes.filter(({ ended }) => !ended);
    const parent = action.under === null ? null : (living[action.under % living.length] ?? null);
    if (this.naive.nodes.length >= 12 || (parent === null && action.grant.kind !== "limits")) return;
    const opening: Opening = { ...action, id: `b${this.naive.nodes.length}` };
    if (action.grant.kind === "wrap_up" && !this.canSetAside(action.grant.amounts, parent)) return;
    const before = this.naive.nodes.length;
    const opened = this.tree.open(parent?.id ?? null, opening);
    expect(plain(opened.decision)).toEqual(this.naive.open(parent, opening));
    expect(opened.budget !== null).toBe(this.naive.nodes.length > before);
  }

  /** Whether a wrap-up reserve is allowed: one at a time, not in another one, and out of what is limited and free. */
  private canSetAside(amounts: Amounts, parent: Node | null): boolean {
    if (parent === null || parent.opening.grant.kind === "wrap_up") return false;
    const others = this.naive.nodes.filter((node) => node.parent === parent && node.opening.grant.kind === "wrap_up");
    if (others.some(({ ended }) => !ended) || Object.keys(amounts).length === 0) return false;
    return Object.entries(amounts).every(([id, amount]) => {
      const free = this.naive.freeOn(lineage(parent), this.dimensions.get(id));
      return parent.limits[id] !== undefined && amount <= free;
    });
  }

  private reserve({ asked, expires, charged }: Action & { do: "reserve" }, node: Node): void {
    const before = this.naive.calls.length;
    const { decision, number } = this.tree.reserve(node.id, asked, expires, charged);
    expect(plain(decision)).toEqual(this.naive.reserve(node, asked, expires, charged));
    expect(number).toBe(this.naive.calls.length > before ? before : null);
  }

  private settle(action: Action & { do: "commit" | "release" }): void {
    const open = this.naive.calls.flatMap((call, index) => (call.open ? [index] : []));
    const index = open[action.call % open.length] ?? -1;
    const call = this.naive.calls[index];
    if (call === undefined) return;
    const used = action.do === "release" ? {} : ((action.exact ? call.asked : action.used) as Amounts);
    this.tree.commit(index, used);
    this.naive.settle(call, used);
  }

  private correct(steps: number, node: Node): void {
    const by = Math.max(steps, -this.naive.used(node, this.dimensions.get("steps")));
    // A correction never takes back what other calls have used, so it only makes sense on the leaf that was charged.
    if (by < 0 && this.naive.nodes.some(({ parent }) => parent === node)) return;
    this.tree.charge(node.id, { steps: by });
    this.naive.charge(node, { steps: by });
  }

  private extend(more: Amounts, node: Node): void {
    const useful = Object.entries(more).filter(([id, amount]) => amount > 0 && node.limits[id] !== undefined);
    if (useful.length === 0 || node.opening.grant.kind === "wrap_up") return;
    const additional = Object.fromEntries(useful);
    expect(this.tree.extend(node.id, additional).kind).toBe(this.naive.extend(node, additional));
  }

  private pass({ ms, jump }: Action & { do: "time" }): void {
    this.monotonic += ms;
    this.instant += ms + jump;
    this.tree.at({ monotonic: this.monotonic, instant: this.instant });
    this.naive.advance(ms, jump);
  }

  private live(what: "pause" | "resume" | "end" | "tick", node: Node): void {
    if (what === "tick") {
      this.tree.charge(node.id, {});
      this.naive.tell(lineage(node));
    } else if (what !== "end") {
      this.tree[what](node.id);
      node.running = what === "resume";
    } else if (this.naive.unsettled(node) > 0) {
      expect(() => this.tree.end(node.id)).toThrow("settle or end them first");
    } else {
      this.tree.end(node.id);
      node.ended = true;
      node.running = false;
    }
  }

  private sweep(): void {
    expect(this.tree.sweep()).toBe(this.naive.sweep());
  }
}

/** The answer as the naive model gives it. */
function plain({ kind, findings }: Decision): Answer {
  return { kind, found: findings.map(({ budget, dimension, refusal }) => `${budget} ${dimension} ${refusal}`).sort() };
}

/** What was said of each dimension of each budget, in the order in which it was said. */
function inOrder(said: readonly Said[]): readonly Said[] {
  const key = ({ budget, dimension }: Said) => `${budget} ${dimension}`;
  return said.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** Under `soft_warn` a child is given something out of a limit of 0, and then a call asks for none of it. */
const KEPT_BEYOND_ZERO: readonly Action[] = [
  {
    do: "open",
    under: null,
    grant: { kind: "limits", limits: { llm_tokens: 0 as Amount } },
    policies: { llm_tokens: "soft_warn" },
    thresholds: [],
    scope: "run",
    deadline: null,
  },
  {
    do: "open",
    under: 0,
    grant: { kind: "fraction", of: 0.25 },
    policies: {},
    thresholds: [],
    scope: "run",
    deadline: null,
  },
  { do: "extend", in: 1, more: { llm_tokens: 1 as Amount } },
  { do: "reserve", in: 0, asked: {}, expires: Number.POSITIVE_INFINITY, charged: false },
];

test("the rules do what the naive model does, over any history", () => {
  // In any order, because findings are reported in the order of the table.
  const order = fc.shuffledSubarray(ALL, { minLength: ALL.length });
  const steps = fc.array(fc.record({ action, look: fc.boolean() }), { maxLength: 60, size: "max" });
  fc.assert(
    fc.property(order, steps, (dimensions, history) => {
      const pair = new Pair(new Dimensions(dimensions));
      for (const { action, look } of history) {
        pair.run(action);
        if (look) pair.check();
      }
      pair.check();
    }),
    { numRuns: 2000, examples: [[ALL, KEPT_BEYOND_ZERO.map((action) => ({ action, look: false }))]] },
  );
});
