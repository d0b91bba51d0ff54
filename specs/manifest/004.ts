import type { Entry } from "./entry.js";

/**
 * The requirements of specs/004-resource-budget-enforcement.md: one for each table row, type field, flow step, numbered
 * behaviour and configuration example. Two ids share a line where that line demands two things built apart.
 */
export const resourceBudgetEnforcement = [
  // 3. Budget Dimensions
  ["004/dimension-steps", "32"],
  ["004/dimension-wall-clock-ms", "33"],
  ["004/dimension-llm-tokens", "34"],
  ["004/dimension-cost-usd", "35"],
  ["004/dimension-network-egress-bytes", "36"],
  ["004/dimension-storage-write-bytes", "37"],

  // 4.1 BudgetLimits
  ["004/limits-immutable", "42"],
  ["004/limits-steps", "46"],
  ["004/limits-wall-clock-ms", "47"],
  ["004/limits-llm-tokens", "48"],
  ["004/limits-cost-usd", "49"],
  ["004/limits-network-egress-bytes", "50"],
  ["004/limits-storage-write-bytes", "51"],

  // 4.2 ExhaustionPolicy
  ["004/policy-hard-stop", "60"],
  ["004/policy-approval-required", "61"],
  ["004/policy-soft-warn", "62"],
  ["004/default-policy-hard-stop-dimensions", "67"],
  ["004/default-policy-llm-tokens", "68"],

  // 4.3 BudgetContext
  ["004/context-limits", "75"],
  ["004/context-policies", "76"],
  ["004/context-consumed", "77"],
  ["004/context-start-time", "78"],
  ["004/context-warnings-issued", "79"],

  // 5. Execution Flow
  ["004/flow-create-context", "88"],
  ["004/flow-log-allocation", "89"],
  ["004/flow-pre-call-check", "97"],
  ["004/check-result-ok", "102"],
  ["004/check-result-warning", "103"],
  ["004/check-result-exhausted", "104"],
  ["004/flow-execute-capability", "109"],
  ["004/flow-post-call-meter", "114-115"],
  ["004/flow-log-consumption", "116"],
  ["004/flow-log-run-completed", "125"],

  // 6. Warning Thresholds
  ["004/threshold-50", "133"],
  ["004/threshold-80", "134"],
  ["004/threshold-100", "135"],
  ["004/threshold-once-per-run", "137"],

  // 7. Human Escalation
  ["004/escalation-paused", "143"],
  ["004/escalation-request", "144"],
  ["004/escalation-request-dimension", "145"],
  ["004/escalation-request-consumption", "146"],
  ["004/escalation-request-proposed-extension", "147"],
  ["004/escalation-decision", "148"],
  ["004/escalation-extend-methods", "150"],
  ["004/escalation-extend-hint", "150"],
  ["004/escalation-extended-logged", "151"],
  ["004/escalation-resumed", "152"],
  ["004/escalation-cancelled", "154"],

  // 8. Causal Chain Events
  ["004/event-allocation", "162"],
  ["004/event-consumption", "163"],
  ["004/event-warning", "164"],
  ["004/event-exhausted", "165"],
  ["004/event-extended", "166"],
  ["004/event-run-completed", "167"],

  // 9. Configuration
  ["004/config-agent", "173-186"],
  ["004/config-per-run-override", "188-197"],
  ["004/config-session-budget", "199-210"],

  // 10. Integration Points
  ["004/host-check-budget-pre-call", "215"],
  ["004/host-record-budget-consumption", "216"],
  ["004/host-usage-keys", "217"],
  ["004/host-provider-first", "218"],
  ["004/host-fallback-estimation", "219"],
  ["004/host-records-and-logs", "220"],
  ["004/kernel-handle-host-call-governed", "223"],
  ["004/kernel-validates-hints-and-budget", "224"],
  ["004/chain-actions", "227"],
  ["004/chain-metadata", "228"],

  // 11. Implementation Status, phase 3
  ["004/upfront-estimation", "268"],
  ["004/model-tier-selection", "269"],
  ["004/network-storage-budgets", "270"],
  ["004/batching", "271"],

  // 12.1 New MCP Tools: ccos_budget_approve
  ["004/approve-tool", "282"],
  ["004/approve-input-checkpoint-id", "285"],
  ["004/approve-input-extensions", "286"],
  ["004/approve-input-reason", "287"],
  ["004/extensions-steps", "291"],
  ["004/extensions-llm-tokens", "292"],
  ["004/extensions-cost-usd", "293"],
  ["004/extensions-wall-clock-ms", "294"],
  ["004/approve-load-checkpoint", "299"],
  ["004/approve-extend-context", "300"],
  ["004/approve-log-extended", "301"],
  ["004/approve-resume", "302"],
  ["004/approve-return-result", "303"],

  // 12.1 New MCP Tools: ccos_budget_deny
  ["004/deny-tool", "305"],
  ["004/deny-input-checkpoint-id", "308"],
  ["004/deny-input-reason", "309"],
  ["004/deny-load-checkpoint", "314"],
  ["004/deny-cancelled", "315"],
  ["004/deny-log-denied", "316"],
  ["004/deny-remove-checkpoint", "317"],

  // 12.2 Orchestrator Changes
  ["004/resume-from-checkpoint", "321, 324-328"],
  ["004/resume-load-checkpoint", "329-330"],
  ["004/resume-restore-evaluator", "332-333"],
  ["004/resume-apply-extensions", "335-338"],
  ["004/resume-continue-execution", "340-341"],

  // 12.3 Approval Queue Integration
  ["004/approval-queue", "348"],
  ["004/approval-kind-server-discovery", "352"],
  ["004/approval-kind-capability-execution", "353"],
  ["004/approval-kind-budget-extension", "354"],
  ["004/approval-budget-extension-checkpoint-id", "355"],
  ["004/approval-budget-extension-exhausted-dimension", "356"],
  ["004/approval-budget-extension-consumed", "357"],
  ["004/approval-budget-extension-limits", "358"],
  ["004/approval-budget-extension-suggested-extension", "359"],

  // 12.4 TUI Integration
  ["004/tui-budget-extension", "367"],
  ["004/tui-dimension", "368"],
  ["004/tui-consumption", "369"],
  ["004/tui-suggested-extension", "370"],
  ["004/tui-actions", "371"],

  // 12.5 Execution Hints Extension
  ["004/hint-budget-extend", "375"],
  ["004/hint-budget-extend-dimension", "381"],
  ["004/hint-budget-extend-additional", "382"],
] as const satisfies readonly Entry[];
