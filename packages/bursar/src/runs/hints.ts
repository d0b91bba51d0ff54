import type { Amounts } from "../core/amount.js";
import type { BudgetId } from "../core/budget.js";
import type { Dimensions } from "../core/dimensions.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import { readExtension } from "../core/input.js";
import type { ExtendOperation } from "../core/operation.js";
import { mayDecide, type Principal } from "./principal.js";

/** What is added to a run's budget when it is started or resumed. */
export interface BudgetExtend {
  readonly dimension: string;
  readonly additional: number;
}

/** Execution hints: what an operator says about a run when it is started or resumed. A program and an agent cannot give any. */
export interface ExecutionHints {
  readonly budget_extend?: BudgetExtend | readonly BudgetExtend[];
}

const FIELD = "hints.budget_extend";

/** Throws when hints are given without the authority to. */
export function checkHints(hints: ExecutionHints | undefined, by: Principal): void {
  if (hints !== undefined) mayDecide(by, "give execution hints");
}

/** What hints add to a budget, each entry by itself. */
export function hintedAmounts(hints: ExecutionHints | undefined, dimensions: Dimensions): readonly Amounts[] {
  if (hints === undefined) return [];
  checkKeys(hints, "hints", ["budget_extend"]);
  const { budget_extend = [] } = hints;
  const entries: readonly BudgetExtend[] = Array.isArray(budget_extend) ? budget_extend : [budget_extend];
  return entries.map((entry) => {
    checkKeys(entry, FIELD, ["dimension", "additional"]);
    const { dimension, additional } = entry;
    if (typeof dimension !== "string") {
      throw new InputError(`${FIELD}.dimension`, `is ${show(dimension)}; allowed: the name of a dimension`);
    }
    if (!(typeof additional === "number" && additional > 0)) {
      throw new InputError(FIELD, `adds ${show(additional)} to ${dimension}; allowed: a number above 0`);
    }
    return readExtension({ [dimension]: additional }, dimensions, FIELD);
  });
}

/** The same as operations: all of them or none, each recorded under the name of the operator. */
export function hintedExtensions(
  hints: ExecutionHints | undefined,
  budget: BudgetId,
  approved_by: string,
  dimensions: Dimensions,
): readonly ExtendOperation[] {
  return hintedAmounts(hints, dimensions).map((additional) => {
    return { op: "extend", budget, additional, approved_by, reason: "budget_extend", must: true };
  });
}
