import type { Entry } from "./entry.js";

/** The requirements of specs/002-budget-controller.md: one for each scenario, named after its title. */
export const budgetController = [
  ["002/cost-limit-check", "10-12"],
  ["002/token-limit-check", "14-16"],
  ["002/time-limit-check", "18-20"],
  ["002/iteration-limit-check", "22-24"],
  ["002/depth-limit-check", "26-28"],
  ["002/record-cost", "34-36"],
  ["002/record-tokens", "38-40"],
  ["002/record-iteration", "42-44"],
  ["002/record-subcall", "46-48"],
  ["002/warning-at-80-cost", "54-56"],
  ["002/warning-at-80-tokens", "58-60"],
  ["002/warning-at-80-time", "62-64"],
  ["002/single-warning-per-limit", "66-68"],
  ["002/sub-budget-calculation", "74-76"],
  ["002/sub-budget-depth-reduction", "78-80"],
  ["002/sub-budget-iterations", "82-84"],
  ["002/get-usage", "90-92"],
  ["002/get-remaining", "94-96"],
  ["002/get-block-reason", "98-100"],
  ["002/no-block-reason", "102-104"],
] as const satisfies readonly Entry[];
