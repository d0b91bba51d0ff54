import fc from "fast-check";
import { expect, test } from "vitest";
import type { Amount, Amounts } from "../../src/core/amount.js";
import type { Budget } from "../../src/core/budget.js";
import { canonicalize, type Json, type JsonObject } from "../../src/core/chain/canonical.js";
import { openBudget } from "../../src/core/children.js";
import { defineDimension, writeAmount } from "../../src/core/dimension.js";
import { Dimensions, STANDARD } from "../../src/core/dimensions.js";
import { type Consumed, Events, type StepCall } from "../../src/core/events.js";

const ALL = [...STANDARD.all, defineDimension({ id: "emails", kind: "sum", decimals: 2 })];
const COUNTED = ALL.filter(({ kind }) => kind !== "clock").map(({ id }) => id);
const TIME = { instant: 5000, monotonic: 1234.5 };

const amount = fc.oneof(
  fc.nat(50),
  fc.maxSafeNat().map((value) => value % 9e15),
) as fc.Arbitrary<number>;
const amountsOf = (ids: readonly string[]): fc.Arbitrary<Amounts> =>
  fc.dictionary(fc.constantFrom(...ids), amount, { noNullPrototype: true }) as fc.Arbitrary<Amounts>;
const amounts = amountsOf(COUNTED);
const limits = amountsOf([...COUNTED, "wall_clock_ms"]);
// Any text that a name may be, some of which canonical JSON has to escape.
const name = fc.oneof(fc.constantFrom("llm", "call-1", ""), fc.string({ unit: "grapheme" }), fc.string());
const order = fc.shuffledSubarray(ALL, { minLength: ALL.length }).map((all) => new Dimensions(all));

const budget = fc
  .record({ id: name, limits, used: amounts, reserved: amounts, aside: amounts })
  .map(({ id, limits: own, ...figures }): Budget => {
    const opening = { id, scope: "run", grant: { kind: "limits", limits: own } } as const;
    const { budget: opened } = openBudget([], opening, { instant: 0, monotonic: 0 }, new Dimensions(ALL));
    return { ...(opened as Budget), ...figures };
  });

/** An object as a link would say it, built member by member and in any order. */
function figures(of: Amounts, dimensions: Dimensions): JsonObject {
  return Object.fromEntries(Object.entries(of).map(([id, each]) => [id, writeAmount(dimensions.get(id), each)]));
}

function dataOf(of: Budget, consumed: Consumed, dimensions: Dimensions): JsonObject {
  const { charged, unreported, estimate, seen, duration_ms, corrects, ...step } = consumed;
  const remaining: Record<string, Json> = {};
  for (const [id, limit] of Object.entries(of.limits)) {
    const used = id === "wall_clock_ms" ? Math.floor(TIME.monotonic) : (of.used[id] ?? 0);
    remaining[id] = writeAmount(dimensions.get(id), limit - used);
  }
  const held: Record<string, Json> = {};
  for (const id of COUNTED) {
    const sum = (of.reserved[id] ?? 0) + (of.aside[id] ?? 0);
    if (sum > 0) held[id] = writeAmount(dimensions.get(id), sum);
  }
  const told = ["cost_usd", "llm_input_tokens", "llm_output_tokens"].filter((id) => charged[id] !== undefined);
  return {
    ...step,
    budget: of.id,
    ...(corrects === null ? {} : { corrects }),
    ...(estimate === null ? {} : { estimate: figures(estimate, dimensions) }),
    estimated: unreported.length > 0,
    held,
    metadata: {
      ...(duration_ms === null ? {} : { duration_ms }),
      ...figures(Object.fromEntries(told.map((id) => [id, charged[id] as Amount])), dimensions),
    },
    remaining,
    resources: figures(charged, dimensions),
    ...(seen === undefined ? {} : { seen: figures(seen, dimensions) }),
  };
}

test("a settlement is written as the canonical JSON of what it says", () => {
  const consumed: fc.Arbitrary<Consumed> = fc.record(
    {
      call_id: name,
      step_id: name,
      capability_id: name,
      charged: amounts,
      unreported: fc.constantFrom([], ["cost_usd"]),
      estimate: fc.option(amounts),
      seen: amounts,
      duration_ms: fc.option(fc.oneof(fc.nat(), fc.double({ min: 0, max: 1e9, noNaN: true }))),
      corrects: fc.option(name),
    },
    {
      requiredKeys: [
        "call_id",
        "step_id",
        "capability_id",
        "charged",
        "unreported",
        "estimate",
        "duration_ms",
        "corrects",
      ],
    },
  );
  fc.assert(
    fc.property(order, budget, consumed, fc.boolean(), (dimensions, of, each, isOwnStep) => {
      const told = isOwnStep ? { ...each, step_id: each.call_id } : each;
      const { write } = new Events(dimensions).consumption(of, TIME, told);
      expect(write()).toBe(canonicalize(dataOf(of, told, dimensions)));
    }),
    { numRuns: 500 },
  );
});

test("a start is written as the canonical JSON of what it says", () => {
  const call: fc.Arbitrary<StepCall> = fc.record({ call_id: name, step_id: name, capability_id: name, kind: name });
  fc.assert(
    fc.property(order, name, call, amounts, fc.option(amounts), (dimensions, id, step, asked, full) => {
      const { call_id, step_id, capability_id, kind } = step;
      const { write } = new Events(dimensions).stepStarted(id, step, asked, full);
      const data = {
        ...(call_id === step_id ? {} : { call_id }),
        ...(kind === capability_id ? {} : { kind }),
        ...(full === null ? {} : { full: figures(full, dimensions) }),
        asked: figures(asked, dimensions),
        budget: id,
        step_id,
        capability_id,
      };
      expect(write()).toBe(canonicalize(data));
    }),
    { numRuns: 500 },
  );
});

test("a name that is no text is refused, however long the others are", () => {
  const events = new Events(STANDARD);
  const step = { call_id: "a", step_id: "\ud800", capability_id: "x".repeat(70_000), kind: "tool" };

  expect(() => events.stepStarted("run", step, {}, null)).toThrow("half");
  expect(() => events.stepStarted("run", { ...step, capability_id: "llm" }, {}, null).write()).toThrow();
});
