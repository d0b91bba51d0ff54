import fc from "fast-check";
import { expect, test } from "vitest";
import { type Budget, BudgetController, type Recording } from "../../src/controller/controller.js";
import { LedgerError } from "../../src/core/errors.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { type Limits, Model } from "./model.js";

const USD = 1e9;

// Small limits and amounts, so that histories run into them.
const limit = fc.option(fc.integer({ min: 0, max: 40 }), { freq: 6 });
const budgets = fc.record({
  maxCost: fc.option(
    fc.integer({ min: 0, max: 40 }).map((cents) => cents / 100),
    { freq: 6 },
  ),
  maxTokens: limit,
  maxTime: fc.option(fc.integer({ min: 0, max: 200 }), { freq: 2 }),
  maxDepth: fc.option(fc.integer({ min: 0, max: 5 }), { freq: 6 }),
  maxIterations: limit,
});
const recording = fc.record(
  {
    cost: fc.integer({ min: 0, max: 60 }).map((tenths) => tenths / 1_000),
    inputTokens: fc.nat(6),
    outputTokens: fc.nat(6),
    iteration: fc.boolean(),
    subcall: fc.boolean(),
    depth: fc.nat(4),
  },
  { requiredKeys: [] },
);
const who = fc.nat(1_000);
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("record" as const), who, recording }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("ask" as const), who, depth: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("attach" as const), which: who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("end" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 60 }) }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

interface Pair {
  readonly real: BudgetController;
  readonly model: Model;
  readonly warnings: string[];
}

interface Offer {
  readonly from: Pair;
  readonly sub: Budget;
  readonly limits: Limits;
}

/** A tree of controllers and the naive one beside it. */
class History {
  readonly pairs: Pair[] = [];
  private readonly offers: Offer[] = [];
  private readonly clock = new FakeClock();

  constructor(budget: Budget) {
    const warnings: string[] = [];
    const real = new BudgetController(budget, (text) => warnings.push(text), { clock: this.clock });
    const { maxCost, maxTokens, maxTime, maxDepth, maxIterations } = budget;
    const none = Number.POSITIVE_INFINITY;
    const limits = {
      cost: maxCost === null ? none : Math.round(maxCost * USD),
      tokens: maxTokens ?? none,
      time: maxTime ?? none,
      depth: maxDepth ?? none,
      iterations: maxIterations ?? none,
    };
    this.pairs.push({ real, model: new Model(limits, this.now), warnings });
  }

  get now(): number {
    return this.clock.now().monotonic;
  }

  pair(who: number): Pair {
    return this.pairs[who % this.pairs.length] as Pair;
  }

  act(step: Action): void {
    switch (step.do) {
      case "record":
        this.record(this.pair(step.who), step.recording);
        break;
      case "ask":
        this.ask(this.pair(step.who), step.depth);
        break;
      case "attach":
        this.attach(this.offers[step.which % this.offers.length]);
        break;
      case "end":
        this.end(this.pair(step.who));
        break;
      case "advance":
        this.clock.advance(step.ms);
        break;
    }
  }

  record({ real, model }: Pair, recording: Recording): void {
    if (model.ended) {
      expect(() => real.record(recording)).toThrow(LedgerError);
      return;
    }
    real.record(recording);
    model.record(recording);
  }

  private ask(from: Pair, depth: number): void {
    if (from.model.ended) {
      expect(() => from.real.getSubBudget(depth)).toThrow(LedgerError);
      return;
    }
    const sub = from.real.getSubBudget(depth);
    const limits = from.model.offer(depth, this.now);
    const orNull = (value: number) => (value === Number.POSITIVE_INFINITY ? null : value);
    expect(sub).toEqual({
      maxCost: orNull(limits.cost / USD),
      maxTokens: orNull(limits.tokens),
      maxTime: orNull(limits.time),
      maxDepth: orNull(limits.depth),
      maxIterations: orNull(limits.iterations),
    });
    this.offers.push({ from, sub, limits });
  }

  private attach(offer: Offer | undefined): void {
    if (offer === undefined) return;
    const { from, sub, limits } = offer;
    if (from.model.ended) {
      expect(() => new BudgetController(sub)).toThrow(LedgerError);
      return;
    }
    const warnings: string[] = [];
    const real = new BudgetController(sub, (text) => warnings.push(text));
    this.pairs.push({ real, model: from.model.attach(limits, this.now), warnings });
  }

  private end({ real, model }: Pair): void {
    if (!model.ended && model.busy) {
      expect(() => real.end()).toThrow(LedgerError);
      return;
    }
    real.end();
    model.end(this.now);
  }

  compare(): void {
    const { now } = this;
    for (const { real, model } of this.pairs) {
      expect(real.canProceed("iteration")).toBe(model.canProceed("iteration", 0, now));
      for (const depth of [0, 1, 3]) {
        expect(real.canProceed("subcall", depth)).toBe(model.canProceed("subcall", depth, now));
      }
      expect(real.getUsage()).toEqual(model.usage(now));
      expect(real.getRemaining()).toEqual(model.remaining(now));
      if (!model.ended) expect(real.getBlockReason()).toBe(model.blockReason(now));
    }
    for (const { model, warnings } of this.pairs) {
      expect(warnings.splice(0).toSorted()).toEqual(model.warnings(now).toSorted());
    }
  }
}

test("any history answers as the naive model does", () => {
  fc.assert(
    fc.property(budgets, fc.array(action, { maxLength: 40 }), (budget, steps) => {
      const history = new History(budget);
      history.compare();
      for (const step of steps) {
        history.act(step);
        history.compare();
      }
    }),
    { numRuns: 400 },
  );
});

test("nothing is lost and nothing is made: used and remaining of a whole tree are its limit", () => {
  const full = fc.record({
    maxCost: fc.integer({ min: 0, max: 400 }).map((tenths) => tenths / 1_000),
    maxTokens: fc.nat(400),
    maxTime: fc.constant(null),
    maxDepth: fc.constant(3),
    maxIterations: fc.nat(40),
  });
  fc.assert(
    fc.property(full, fc.array(action, { maxLength: 60 }), (budget, steps) => {
      const history = new History(budget);
      const root = history.pair(0);
      for (const step of steps) {
        // A caller that asks first and uses no more than there is.
        if (step.do === "record")
          history.record(history.pair(step.who), within(history.pair(step.who), step.recording));
        else history.act(step);
        if (root.model.ended) return;
        const usage = root.real.getUsage();
        const left = history.pairs.map(({ real }) => real.getRemaining());
        const total = (read: (each: (typeof left)[number]) => number | null) =>
          left.reduce((all, each) => all + (read(each) ?? Number.NaN), 0);
        expect(Math.round((usage.cost + total(({ cost }) => cost)) * USD)).toBe(Math.round(budget.maxCost * USD));
        expect(usage.tokens + total(({ tokens }) => tokens)).toBe(budget.maxTokens);
        expect(usage.iterations + (root.real.getRemaining().iterations ?? Number.NaN)).toBe(budget.maxIterations);
      }
    }),
    { numRuns: 400 },
  );
});

function within({ real }: Pair, wanted: Recording): Recording {
  const { cost, tokens, iterations } = real.getRemaining();
  const { cost: wantedCost = 0, inputTokens: wantedTokens = 0, iteration = false } = wanted;
  return {
    cost: Math.min(wantedCost, cost ?? wantedCost),
    inputTokens: Math.min(wantedTokens, tokens ?? wantedTokens),
    iteration: iteration && iterations !== 0,
  };
}
