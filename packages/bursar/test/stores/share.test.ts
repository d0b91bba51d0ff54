import { describe, expect, test } from "vitest";
import type { Amount } from "../../src/core/amount.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { shareOf, sliceOf } from "../../src/stores/lease/share.js";

describe("the share of a holder", () => {
  test("is what it wants while there is plenty", () => {
    expect(shareOf(1_000_000, 1, 4096, 4)).toBe(4096);
    expect(shareOf(Number.POSITIVE_INFINITY, 1, 4096, 4)).toBe(4096);
  });

  test("shrinks near the limit to half of an equal part, and never below what is needed", () => {
    expect(shareOf(800, 1, 4096, 4)).toBe(100);
    expect(shareOf(7, 1, 4096, 4)).toBe(1);
    expect(shareOf(3, 3, 4096, 4)).toBe(3);
    expect(shareOf(0, 5, 4096, 0)).toBe(5);
  });

  test("looks at the narrowest budget of the path, dimension by dimension", () => {
    const amounts = (values: Record<string, number>) => values as Record<string, Amount>;
    const base = { extended: {}, aside: {}, used: {}, reserved: {}, policies: {}, thresholds: [], warned: {} };
    const rest = { exhausted: [], watch: { elapsed: 0, since: 0 }, deadline: null, open: 0, ended: false } as const;
    const budget = (id: string, limits: Record<string, number>) =>
      ({ id, parent: null, scope: "shared", funding: "path", limits: amounts(limits), ...base, ...rest }) as const;
    const path = [budget("run", { steps: 1000 }), budget("tenant", { steps: 40, cost_usd: 9 })];
    const need = amounts({ steps: 1 });
    const want = amounts({ steps: 500, cost_usd: 500, llm_tokens: 500 });
    const slice = sliceOf(path, need, want, 2, { instant: 0, monotonic: 0 }, STANDARD);
    expect(slice).toEqual({ steps: 10, cost_usd: 2, llm_tokens: 500 });
  });
});
