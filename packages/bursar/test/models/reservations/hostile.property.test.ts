import fc from "fast-check";
import { expect, test } from "vitest";
import type { Amounts } from "../../../src/core/amount.js";
import type { ReserveOperation } from "../../../src/core/operation.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";

const IDS = ["llm_output_tokens", "cost_usd", "llm_tokens", "steps"] as const;
const amount = fc.oneof(fc.nat(10), fc.nat(1000), fc.constantFrom(0, 1e14));
const amounts = fc.dictionary(fc.constantFrom(...IDS), amount).map((each) => each as Amounts);

interface Asked {
  readonly asked: Amounts;
  readonly least?: Amounts;
  readonly learned?: Amounts;
}

const calls: fc.Arbitrary<readonly Asked[]> = fc.array(
  fc.record({ asked: amounts, least: amounts, learned: amounts }, { requiredKeys: ["asked"] }),
  { maxLength: 20 },
);

function reserving(call: string, terms: Asked): ReserveOperation {
  return { op: "reserve", budget: "run", call, kind: "model", ...terms };
}

test("whatever was learned, no limit is passed, and nobody is held more than he asked for", async () => {
  await fc.assert(
    fc.asyncProperty(amounts, amounts, calls, async (above, limits, wanted) => {
      const store = new MemoryStore({ clock: new FakeClock() });
      const opening = (id: string, given: Amounts) =>
        ({ id, scope: "run", grant: { kind: "limits", limits: given }, policies: {} }) as const;
      await store.apply([{ op: "open", parent: null, opening: opening("session", above) }]);
      await store.apply([{ op: "open", parent: "session", opening: opening("run", limits) }]);
      for (const [at, terms] of wanted.entries()) {
        const [{ decision, granted }] = await store.apply([reserving(`call-${at}`, terms)]);
        if (decision.kind !== "admitted") continue;
        for (const [id, held] of Object.entries(granted)) {
          expect(held).toBeGreaterThanOrEqual(0);
          if (id === "llm_tokens" || id === "steps") continue;
          expect(held).toBeLessThanOrEqual(terms.asked[id] ?? 0);
        }
      }
      for (const [id, given] of [
        ["run", limits],
        ["session", above],
      ] as const) {
        const budget = await store.budget(id);
        for (const [dimension, limit] of Object.entries(given)) {
          expect(budget?.reserved[dimension] ?? 0).toBeLessThanOrEqual(limit);
        }
      }
    }),
    { numRuns: 500 },
  );
});
