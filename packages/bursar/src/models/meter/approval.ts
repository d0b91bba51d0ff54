import { type Decision, type Finding, outermost } from "../../core/decision.js";
import { writeAmount } from "../../core/dimension.js";
import { readExtension } from "../../core/input.js";
import { askedTogether, suggestExtension } from "../../core/suggestion.js";
import type { Store } from "../../ports/store.js";
import type { Purse } from "../../runtime/purse.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";
import type { RefusalReport } from "./refusal.js";

/** A question that several calls may wait for, and how much each of them wants. */
interface Question {
  readonly wanted: number[];
  readonly answer: Promise<boolean>;
}

/** What is being asked now, by budget and dimension: calls that stand before the same limit wait for one answer. */
const asking = new WeakMap<Store, Map<string, Question>>();

/**
 * Asks whoever may decide, and does what he says. Tells whether the call is worth another attempt.
 *
 * @throws {BudgetExceededError} when he cannot be asked, or gives what cannot be given: the call stays refused.
 */
export async function extended(purse: Purse, decision: Decision, report: RefusalReport): Promise<boolean> {
  const worst = outermost(decision);
  if (purse.approve === undefined || worst === undefined || !purse.store.dimensions.has(worst.dimension)) return false;
  const questions = asking.get(purse.store) ?? new Map<string, Question>();
  asking.set(purse.store, questions);
  const key = JSON.stringify([worst.budget, worst.dimension]);
  const open = questions.get(key);
  if (open !== undefined) {
    open.wanted.push(worst.asked);
    return open.answer;
  }
  const wanted = [worst.asked];
  const answer = ask(purse, worst, wanted, report).finally(() => questions.delete(key));
  questions.set(key, { wanted, answer });
  return answer;
}

async function ask(
  { approve, store }: Purse,
  finding: Finding,
  wanted: readonly number[],
  report: RefusalReport,
): Promise<boolean> {
  const { budget: id, dimension, ...figures } = finding;
  const budget = await store.budget(id);
  if (approve === undefined || budget === null) return false;
  const path = await store.path(id);
  // Those that were made at the same time have come by now, and what is suggested is for them too.
  await new Promise((resolve) => setImmediate(resolve));
  const missing = { dimension, asked: askedTogether(dimension, wanted, store.dimensions) };
  const suggested_extension = suggestExtension(path, missing, store.dimensions, store.clock.now());
  const edge = (amount: number) => writeAmount(store.dimensions.get(dimension), amount);
  const { message } = report;
  const [asked, used, limit] = [edge(figures.asked), edge(figures.used), edge(figures.limit)];
  try {
    const extension = await approve({ budget: id, dimension, asked, used, limit, suggested_extension, message });
    if (extension === null) return false;
    const additional = readExtension(extension, store.dimensions);
    await store.apply([{ op: "extend", budget: id, additional, approved_by: "approve", reason: null, must: true }]);
    return true;
  } catch (cause) {
    // To fail here would look like a failure of the network, and an SDK would try again and ask again.
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BudgetExceededError({ ...report, message: `${message}; approval failed: ${why}` }, { cause });
  }
}
