import type { Action } from "../core/events.js";
import type { Operation } from "../core/operation.js";
import type { AnswerNote } from "../ports/model.js";

/** The call that an answer belongs to. */
interface NotedCall {
  readonly budget: string;
  readonly call_id: string;
  readonly capability_id: string;
}

const NONE: readonly Operation[] = [];
/** Budgets whose chain was told of something that has no price: once is enough, but not for ever. */
const MOST_TOLD = 10_000;
const told = new Set<string>();

/**
 * What is written with the settlement of a call about the price of its answer. What has no price is told once in each budget, because
 * mostly every answer of a model says it.
 */
export function noteOperations(about: NotedCall, notes: readonly AnswerNote[] | undefined): readonly Operation[] {
  if (notes === undefined || notes.length === 0) return NONE;
  const { budget, call_id: call } = about;
  return notes.flatMap(({ action_type, data }): Operation[] => {
    if (action_type === "AnswerUnpriced" && isTold(`${budget}\n${JSON.stringify(data)}`)) return [];
    const action: Action = { action_type, data: { ...about, ...data } };
    return [{ op: "record", budget, call, action }];
  });
}

function isTold(key: string): boolean {
  if (told.has(key)) return true;
  if (told.size >= MOST_TOLD) told.clear();
  told.add(key);
  return false;
}
