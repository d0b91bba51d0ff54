import { type Operation, openStore, readAmounts, readLimits, STANDARD, Sweeper } from "bursar";
import { openHousekeeping } from "bursar/store";
import { FakeClock } from "bursar/testing";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { sqliteEngine } from "./engines.js";
import { amounts } from "./filled.js";

const engine = await sqliteEngine();
afterAll(() => engine[Symbol.asyncDispose]());

const budgets = fc.integer({ min: 0, max: 6 });
const calls = fc.integer({ min: 0, max: 12 });
const cost = fc
  .integer({ min: 0, max: 40 })
  .map((cents) => amounts({ cost_usd: cents / 10, steps: cents % 3, depth: cents % 4 }));

/** Operations that mostly make sense. Those that do not are refused, which must leave no trace. */
const operations: fc.Arbitrary<Operation> = fc.oneof(
  fc.tuple(budgets, fc.option(budgets), fc.constantFrom(0.3, 0.5, 1)).map(([id, parent, of]): Operation => {
    const grant = parent === null ? limits(20) : id % 3 === 0 ? ({ kind: "fraction", of } as const) : limits(5);
    const wrapUp = { kind: "wrap_up", amounts: amounts({ cost_usd: 0.5 }) } as const;
    const terms = {
      policies: {
        cost_usd: of === 1 ? "soft_warn" : "hard_stop",
        steps: id < 3 ? "approval_required" : "soft_warn",
      } as const,
      ...(id % 2 === 0 ? { thresholds: [10, 50, 90] } : {}),
      ...(id % 3 === 1 ? { deadline: 120_000 } : {}),
    };
    const opening = {
      id: `b${id}`,
      scope: "run",
      grant: parent !== null && id === 5 ? wrapUp : grant,
      ...terms,
    } as const;
    return { op: "open", parent: parent === null ? null : `b${parent}`, opening, chain: `c${id % 3}` };
  }),
  fc.tuple(budgets, calls, cost, fc.boolean()).map(
    ([id, call, asked, dies]): Operation => ({
      op: "reserve",
      budget: `b${id}`,
      call: `k${call}`,
      kind: call % 2 === 0 ? "model" : "tool",
      asked,
      ...(call % 3 === 0 ? { step_id: "a step of several calls", capability_id: "search" } : {}),
      ...(dies ? { expires: 1 } : {}),
    }),
  ),
  fc.tuple(calls, cost).map(([call, used]): Operation => ({ op: "commit", call: `k${call}`, used })),
  // A part of what was used, so that a later report can add the rest.
  calls.map((call): Operation => ({ op: "commit", call: `k${call}`, used: amounts({ steps: 1 }) })),
  fc
    .tuple(calls, cost, cost)
    .map(([call, seen, estimate]): Operation => ({ op: "commit", call: `k${call}`, used: {}, seen, estimate })),
  calls.map((call): Operation => ({ op: "release", call: `k${call}` })),
  fc.constant<Operation>({ op: "expire" }),
  fc.constant<Operation>({ op: "anchor" }),
  fc
    .tuple(budgets, calls, cost)
    .map(([id, call, used]): Operation => ({ op: "charge", budget: `b${id}`, call: `x${call}`, used })),
  fc.tuple(budgets, fc.constantFrom("cost_usd", "steps", "wall_clock_ms")).map(([id, dimension]): Operation => {
    const additional = readAmounts({ [dimension]: 7 }, STANDARD, { clocks: true });
    return { op: "extend", budget: `b${id}`, additional, approved_by: "ada", reason: null };
  }),
  fc
    .tuple(budgets, fc.constantFrom("pause", "resume", "end"))
    .map(([id, op]): Operation => ({ op: op as "pause" | "resume" | "end", budget: `b${id}` })),
);

function limits(usd: number) {
  return { kind: "limits", limits: readLimits({ cost_usd: usd, steps: 50, depth: 9, wall_clock_ms: 60_000 }) } as const;
}

test("whatever happens in a store, its check finds nothing wrong, and neither does a sampled one beside it", async () => {
  const steps = fc.oneof(
    { weight: 8, arbitrary: operations },
    { weight: 1, arbitrary: fc.constantFrom("sample" as const, "tick" as const, "check" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 100 }), async (list) => {
      const url = engine.fresh();
      const clock = new FakeClock();
      const told: string[] = [];
      await using housekeeping = openHousekeeping(url);
      {
        await using store = await openStore(url, { clock });
        await store.apply([{ op: "open", parent: null, opening: { id: "b0", scope: "shared", grant: limits(30) } }]);
        const check = await housekeeping.sample();
        using sweeper = new Sweeper({
          store,
          check,
          differs: ({ where, problem }) => told.push(`${where}: ${problem}`),
        });
        for (const step of list) {
          if (step === "tick") clock.advance(7001.25);
          else if (step === "sample") await sweeper.sample();
          else if (step === "check") expect((await housekeeping.check()).defects).toEqual([]);
          else await store.apply([step]).catch(() => {});
        }
      }
      const { defects, budgets: checked } = await housekeeping.check();
      expect([...told, ...defects]).toEqual([]);
      expect(checked).toBeGreaterThan(0);
    }),
    { numRuns: 30 },
  );
  // Every step of a history waits for a disk.
}, 600_000);
