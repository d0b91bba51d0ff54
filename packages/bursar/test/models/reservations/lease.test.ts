import { expect, test } from "vitest";
import type { Amount, Amounts } from "../../../src/core/amount.js";
import { deferred } from "../../../src/runtime/deferred.js";
import { Gate } from "../../../src/runtime/gate.js";
import { LeasingStore } from "../../../src/stores/lease/leasing.js";
import { MemoryStore } from "../../../src/stores/memory.js";

const amounts = (all: Record<string, number>): Amounts => all as Record<string, Amount>;
const ASKED = amounts({ steps: 1, llm_output_tokens: 4000, cost_usd: 40_000 });
const LEARNED = amounts({ llm_output_tokens: 400, cost_usd: 4000 });
const LIMIT = 10_000;

/** How many of twenty calls are let in at once from a leased budget, and what is left of them afterwards. */
async function letIn(learned: Amounts | undefined) {
  const store = new MemoryStore();
  await new Gate({ store }).open("team", { limits: { llm_output_tokens: LIMIT }, scope: "shared" });
  let [count, now, most, undecided] = [0, 0, 0, 20];
  const decided = deferred<void>();
  {
    await using leasing = await LeasingStore.open({ store, budgets: ["team"], recall_ms: 10 });
    const calls = Array.from({ length: undecided }, (_, at) => `call-${at}`);
    await Promise.all(
      calls.map(async (call) => {
        const op = { op: "reserve", budget: "team", call, kind: "model", asked: ASKED } as const;
        const least = amounts({ llm_output_tokens: 1, cost_usd: 1 });
        const [outcome] = await leasing.apply([learned === undefined ? { ...op, least } : { ...op, least, learned }]);
        if (--undecided === 0) decided.resolve();
        if (outcome.decision.kind !== "admitted") return;
        const { llm_output_tokens: held = 0 } = outcome.granted;
        count++;
        now += held;
        most = Math.max(most, now);
        await decided.promise;
        now -= held;
        await leasing.apply([
          { op: "commit", call, used: amounts({ steps: 1, llm_output_tokens: 300, cost_usd: 3000 }) },
        ]);
      }),
    );
  }
  const budget = await store.budget("team");
  return { count, most, used: budget?.used.llm_output_tokens, reserved: budget?.reserved.llm_output_tokens ?? 0 };
}

test("a leased budget lets more calls in at once when it is known what they need, and never more than it has", async () => {
  const [full, learned] = [await letIn(undefined), await letIn(LEARNED)];
  expect(learned.count).toBeGreaterThan(full.count);
  for (const { count, most, used, reserved } of [full, learned]) {
    expect(most).toBeLessThanOrEqual(LIMIT);
    expect([used, reserved]).toEqual([count * 300, 0]);
  }
});
