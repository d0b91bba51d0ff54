import type { RequirementId } from "./manifest.js";

/**
 * The requirements no test proves yet, by the capability that will. The list only ever gets shorter: as soon as a test
 * cites one of these ids, `test/specs.test.ts` demands that it leaves.
 */
export const pending = {
  /** Where people and programs meet a paused run: the MCP tools and the terminal interface. */
  faces: [
    "004/approve-tool",
    "004/approve-input-checkpoint-id",
    "004/approve-input-extensions",
    "004/approve-input-reason",
    "004/deny-tool",
    "004/deny-input-checkpoint-id",
    "004/deny-input-reason",
    "004/tui-budget-extension",
    "004/tui-dimension",
    "004/tui-consumption",
    "004/tui-suggested-extension",
    "004/tui-actions",
  ],

  /** What looks ahead of a run: what it will take, which model it can afford, which calls to join. */
  foresight: ["004/upfront-estimation", "004/model-tier-selection", "004/network-storage-budgets", "004/batching"],
} as const satisfies Readonly<Record<string, readonly RequirementId[]>>;
