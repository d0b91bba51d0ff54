import type { Entry } from "./entry.js";

/** The requirements of specs/000-fuel-budget-analysis.md: one for each scenario, named after its title. */
export const fuelBudgetAnalysis = [
  ["000/efficient-fuel-usage", "9-24"],
  ["000/moderate-fuel-usage", "26-32"],
  ["000/warning-fuel-usage", "34-40"],
  ["000/critical-fuel-usage", "42-48"],
  ["000/fuel-exhaustion", "50-57"],
  ["000/heavy-package-import-detection", "63-69"],
  ["000/large-dataset-processing-detection", "71-76"],
  ["000/multiple-package-imports-detection", "78-83"],
  ["000/first-import-in-session", "89-94"],
  ["000/cached-import-in-existing-session", "96-101"],
  ["000/session-recommendation", "103-107"],
  ["000/incremental-budget-increase", "113-118"],
  ["000/safety-margin-recommendations", "120-125"],
  ["000/package-specific-recommendations", "127-131"],
  ["000/existing-clients-ignore-fuel-analysis", "137-143"],
  ["000/new-clients-consume-fuel-analysis", "145-151"],
  ["000/analysis-computation-overhead", "157-164"],
] as const satisfies readonly Entry[];
