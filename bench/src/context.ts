import { BudgetContext, sha256Hex } from "bursar";
import { measure, type Variant } from "./measure.js";
import type { Bench, Report } from "./report.js";

const OPERATIONS = 500;
const LINE = "x".repeat(450);
const ASKED = { llm_tokens: 2000, cost_usd: 0.02 };
const METADATA = { usage: { prompt_tokens: 900, completion_tokens: 120 }, total_cost_usd: 0.004 };

/** What a governed call costs with everything around it: input read, calls that count once, events, a hash-linked chain. */
export const context: Bench = {
  name: "context",
  about: "checkPreCall + recordConsumption: two links of a chain for each call",
  run(quick): Report {
    const rows = measure([hashes(), calls()], quick ? 3 : 30);
    return { tables: [{ title: "one call, ratio to hashing its two links", rows }], bars: [] };
  },
};

function hashes(): Variant {
  return {
    name: "baseline: SHA-256 of two lines of 450 bytes",
    operations: OPERATIONS,
    run(count) {
      for (let i = 0; i < 2 * count; i++) sha256Hex(LINE);
    },
  };
}

function calls(): Variant {
  return {
    name: "checkPreCall + recordConsumption, six limits",
    operations: OPERATIONS,
    run(count) {
      const limits = { steps: null, llm_tokens: null, cost_usd: 1_000_000, wall_clock_ms: null };
      const run = new BudgetContext({ limits: { ...limits, fuel: 1000, iterations: 1000, subcalls: 1000 } });
      for (let i = 0; i < count; i++) {
        const check = run.checkPreCall({ capability_id: "llm", kind: "model", asked: ASKED });
        if (check.proceed) run.recordConsumption(check.call_id, { metadata: METADATA });
      }
    },
  };
}
