import type { RequirementId } from "./manifest.js";

/**
 * The requirements no test proves yet, by the capability that will. The list only ever gets shorter: as soon as a test
 * cites one of these ids, `test/specs.test.ts` demands that it leaves.
 */
export const pending = {
  /** Runs that pause, ask, are decided upon and resume from a checkpoint, and the configuration that starts them. */
  runs: [
    "004/escalation-paused",
    "004/escalation-request",
    "004/escalation-request-dimension",
    "004/escalation-request-consumption",
    "004/escalation-request-proposed-extension",
    "004/escalation-decision",
    "004/escalation-extend-hint",
    "004/escalation-extended-logged",
    "004/escalation-resumed",
    "004/escalation-cancelled",
    "004/config-agent",
    "004/config-per-run-override",
    "004/config-session-budget",
    "004/kernel-handle-host-call-governed",
    "004/kernel-validates-hints-and-budget",
    "004/approve-load-checkpoint",
    "004/approve-log-extended",
    "004/approve-resume",
    "004/approve-return-result",
    "004/deny-load-checkpoint",
    "004/deny-cancelled",
    "004/deny-log-denied",
    "004/deny-remove-checkpoint",
    "004/resume-from-checkpoint",
    "004/resume-load-checkpoint",
    "004/resume-restore-evaluator",
    "004/resume-apply-extensions",
    "004/resume-continue-execution",
    "004/approval-queue",
    "004/approval-kind-server-discovery",
    "004/approval-kind-capability-execution",
    "004/approval-kind-budget-extension",
    "004/approval-budget-extension-checkpoint-id",
    "004/approval-budget-extension-exhausted-dimension",
    "004/approval-budget-extension-consumed",
    "004/approval-budget-extension-limits",
    "004/approval-budget-extension-suggested-extension",
    "004/hint-budget-extend",
    "004/hint-budget-extend-dimension",
    "004/hint-budget-extend-additional",
  ],

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
