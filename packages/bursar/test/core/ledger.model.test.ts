import fc from "fast-check";
import { expect, test } from "vitest";
import type { Amount, Amounts } from "../../src/core/amount.js";
import type { Grant, Opening } from "../../src/core/children.js";
import { defineDimension } from "../../src/core/dimension.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { Ledger, REFUSED } from "../../src/core/ledger.js";
import type { ExhaustionPolicy } from "../../src/core/policy.js";
import { Naive, type Said } from "./naive.js";

// Few dimensions of each kind, and small amounts, so that histories run into each other; two of the caller's own.
const DIMENSIONS = STANDARD.with(
  defineDimension({ id: "emails_sent", kind: "sum" }),
  defineDimension({ id: "open_tabs", kind: "peak", defaultPolicy: "approval_required" }),
);
const SUMS = ["steps", "llm_tokens", "cost_usd", "emails_sent"];
const PEAKS = ["depth", "open_tabs"];
const CLOCKS = ["wall_clock_ms"];

const amountOf = (max: number) => fc.integer({ min: 0, max }) as fc.Arbitrary<number> as fc.Arbitrary<Amount>;
const some = (ids: readonly string[], max: number): fc.Arbitrary<Amounts> =>
  fc.dictionary(fc.constantFrom(...ids), amountOf(max), { maxKeys: 4, noNullPrototype: true });
const limits = some([...SUMS, ...PEAKS, ...CLOCKS], 40);
const policy = fc.constantFrom<ExhaustionPolicy>("hard_stop", "approval_required", "soft_warn");
const policies = fc.dictionary(fc.constantFrom(...SUMS, ...PEAKS, ...CLOCKS), policy, {
  maxKeys: 3,
  noNullPrototype: true,
});
const pick = fc.nat(1000);

const grant: fc.Arbitrary<Grant> = fc.oneof(
  fc.record({ kind: fc.constant("limits" as const), limits, clamp: fc.boolean() }),
  fc.record({ kind: fc.constant("fraction" as const), of: fc.constantFrom(0.25, 0.5, 1) }),
  fc.record({ kind: fc.constant("wrap_up" as const), amounts: some([...SUMS, ...CLOCKS], 5) }),
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
      ms: fc.nat(15),
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
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** A ledger and the naive model living through the same history. */
class Pair {
  private readonly told: Said[] = [];
  private readonly ledger = new Ledger(DIMENSIONS, ({ kind, budget, dimension, percent }) => {
    this.told.push({ kind, budget, dimension, percent });
  });
  private readonly naive = new Naive(DIMENSIONS);
  private readonly nodes: number[] = [];
  private readonly slots: number[] = [];
  private monotonic = 0;
  private instant = 0;

  run(action: Action): void {
    const living = this.naive.nodes.flatMap((node, index) => (node.ended ? [] : [index]));
    const at = "in" in action && living.length > 0 ? (living[action.in % living.length] ?? 0) : -1;
    const node = this.naive.nodes[at];
    const row = this.nodes[at];
    switch (action.do) {
      case "open":
        this.open(action, living);
        break;
      case "reserve":
        if (node !== undefined && row !== undefined) this.reserve(action, at);
        break;
      case "commit":
      case "release":
        this.settle(action);
        break;
      case "charge":
        if (node === undefined || row === undefined) break;
        this.ledger.charge(row, this.ledger.row(action.used));
        this.naive.charge(node, action.used);
        break;
      case "correct": {
        if (node === undefined || row === undefined) break;
        const by = Math.max(action.by, -this.naive.used(node, DIMENSIONS.get("steps")));
        // A correction never takes back what other calls have used, so it only makes sense on the leaf that was charged.
        if (by < 0 && this.naive.nodes.some(({ parent }) => parent === node)) break;
        this.ledger.correct(row, { steps: by });
        this.naive.charge(node, { steps: by });
        break;
      }
      case "extend":
        if (node !== undefined && row !== undefined) this.extend(action.more, at);
        break;
      case "time":
        this.monotonic += action.ms;
        this.instant += action.ms + action.jump;
        this.ledger.at({ monotonic: this.monotonic, instant: this.instant });
        this.naive.advance(action.ms, action.jump);
        break;
      case "sweep":
        expect(this.ledger.sweep()).toBe(this.naive.sweep());
        break;
      default:
        if (node !== undefined && row !== undefined) this.live(action.do, at);
    }
  }

  /** Every figure of every budget, and everything that was said, is the same. */
  check(): void {
    this.naive.nodes.forEach((node, index) => {
      const budget = this.ledger.budget(this.nodes[index] ?? -1);
      for (const dimension of DIMENSIONS.all) {
        const { id, kind } = dimension;
        const figures = {
          limit: (budget.limits[id] ?? Number.POSITIVE_INFINITY) + (budget.extended[id] ?? 0),
          used: kind === "clock" ? this.naive.used(node, dimension) : (budget.used[id] ?? 0),
          reserved: budget.reserved[id] ?? 0,
          aside: budget.aside[id] ?? 0,
        };
        expect({ budget: node.id, id, ...figures }).toEqual({
          budget: node.id,
          id,
          limit: this.naive.limit(node, id),
          used: this.naive.used(node, dimension),
          reserved: this.naive.reserved(node, dimension),
          aside: this.naive.aside(node, dimension),
        });
      }
      expect([...budget.exhausted].sort()).toEqual([...node.exhausted].sort());
    });
    expect(sorted(this.told)).toEqual(sorted(this.naive.said));
  }

  private open(action: Action & { do: "open" }, living: readonly number[]): void {
    const at = action.under === null || living.length === 0 ? -1 : (living[action.under % living.length] ?? -1);
    if (this.naive.nodes.length >= 12 || (at === -1 && action.grant.kind !== "limits")) return;
    const parent = this.naive.nodes[at] ?? null;
    const opening: Opening = { ...action, id: `b${this.naive.nodes.length}` };
    const { grant } = action;
    const bad =
      grant.kind === "wrap_up" &&
      (parent?.opening.grant.kind === "wrap_up" ||
        this.naive.nodes.some(
          (node) => node.parent === parent && node.opening.grant.kind === "wrap_up" && !node.ended,
        ) ||
        Object.entries(grant.amounts).some(([id, amount]) => {
          const dimension = DIMENSIONS.get(id);
          if (parent === null || parent.limits[id] === undefined) return true;
          return amount > this.freeOf(at, dimension.id);
        }));
    if (bad) return;
    const opened = this.ledger.open(at === -1 ? null : (this.nodes[at] ?? -1), opening);
    expect(opened.decision.kind).toBe(this.naive.open(parent, opening));
    if (opened.node !== REFUSED) this.nodes.push(opened.node);
    expect(this.nodes.length).toBe(this.naive.nodes.length);
  }

  /** What a wrap-up reserve could take: the least that is free on the path. */
  private freeOf(at: number, id: string): number {
    const dimension = DIMENSIONS.get(id);
    let free = Number.POSITIVE_INFINITY;
    for (let node = this.naive.nodes[at] ?? null; node !== null; node = node.parent) {
      const taken = this.naive.used(node, dimension) + this.naive.reserved(node, dimension);
      free = Math.min(free, this.naive.limit(node, id) - this.naive.aside(node, dimension) - taken);
    }
    return free;
  }

  private reserve({ asked, expires, charged }: Action & { do: "reserve" }, at: number): void {
    const node = this.naive.nodes[at];
    if (node === undefined) return;
    const slot = this.ledger.reserve(this.nodes[at] ?? -1, this.ledger.row(asked), expires, charged);
    expect(this.ledger.decision.kind).toBe(this.naive.reserve(node, asked, expires, charged));
    if (slot !== REFUSED) this.slots.push(slot);
    expect(this.slots.length).toBe(this.naive.calls.length);
  }

  private settle(action: Action & { do: "commit" | "release" }): void {
    const open = this.naive.calls.flatMap((call, index) => (call.open ? [index] : []));
    const index = open[action.call % open.length] ?? -1;
    const call = this.naive.calls[index];
    const slot = this.slots[index];
    if (call === undefined || slot === undefined) return;
    if (action.do === "release") {
      this.ledger.release(slot);
      this.naive.settle(call, {});
      return;
    }
    const used = (action.exact ? call.asked : action.used) as Amounts;
    this.ledger.commit(slot, this.ledger.row(used));
    this.naive.settle(call, used);
  }

  private extend(more: Amounts, at: number): void {
    const node = this.naive.nodes[at];
    const useful = Object.entries(more).filter(([id, amount]) => amount > 0 && node?.limits[id] !== undefined);
    if (node === undefined || useful.length === 0 || node.opening.grant.kind === "wrap_up") return;
    const additional = Object.fromEntries(useful);
    expect(this.ledger.extend(this.nodes[at] ?? -1, additional).kind).toBe(this.naive.extend(node, additional));
  }

  private live(what: "pause" | "resume" | "end" | "tick", at: number): void {
    const node = this.naive.nodes[at];
    const row = this.nodes[at] ?? -1;
    if (node === undefined) return;
    if (what === "tick") {
      this.ledger.tick(row);
      this.naive.tell(lineageOf(node));
    } else if (what !== "end") {
      this.ledger[what](row);
      node.running = what === "resume";
    } else {
      const busy =
        this.naive.calls.some((call) => call.open && call.leaf === node) ||
        this.naive.nodes.some((child) => child.parent === node && !child.ended);
      if (busy) {
        expect(() => this.ledger.end(row)).toThrow("settle or end them first");
        return;
      }
      this.ledger.end(row);
      node.ended = true;
      node.running = false;
    }
  }
}

type Lineage = { parent: Lineage | null };

function lineageOf<N extends Lineage>(node: N): N[] {
  return node.parent === null ? [node] : [node, ...lineageOf(node.parent as N)];
}

function sorted(said: readonly Said[]): string[] {
  return said.map((each) => JSON.stringify(each)).sort();
}

test("the ledger does what the naive model does, over any history", () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60, size: "max" }), (history) => {
      const pair = new Pair();
      for (const each of history) {
        pair.run(each);
        pair.check();
      }
    }),
    { numRuns: 2000 },
  );
});
