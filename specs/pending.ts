import type { RequirementId } from "./manifest.js";

/**
 * The requirements no test proves yet, by the capability that will. The list only ever gets shorter: as soon as a test
 * cites one of these ids, `test/specs.test.ts` demands that it leaves.
 */
export const pending = {
  /** What looks ahead of a run: what it will take, which model it can afford, which calls to join. */
  foresight: ["004/upfront-estimation", "004/model-tier-selection", "004/network-storage-budgets", "004/batching"],
} as const satisfies Readonly<Record<string, readonly RequirementId[]>>;
