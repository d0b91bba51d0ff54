import type { Amount } from "../core/amount.js";
import { usedOf } from "../core/budget.js";
import type { Operation } from "../core/operation.js";
import { putHistory } from "../foresight/history.js";
import type { Prediction } from "../ports/foresight.js";
import type { Desk } from "./desk.js";
import { sizeOf } from "./estimating.js";
import type { RunRecord } from "./record.js";

/**
 * What is kept of a run that has ended for those to come: what it took with all below it. One that shares its parent's budget has
 * taken nothing of its own, and one that did nothing before it was cancelled or failed shows nothing. Whatever did not come to its
 * end would have taken more: how much a program takes that falls over says nothing of one that does not.
 */
export async function learned(store: Desk, run: RunRecord, isRetry: boolean): Promise<readonly Operation[]> {
  const budget = run.shares ? null : await store.budget(run.budget);
  if (budget === null) return [];
  const time = store.clock.now();
  const used: Record<string, Amount> = {};
  let hasActed = false;
  for (const dimension of store.dimensions.all) {
    const amount = usedOf(budget, dimension, time);
    if (amount <= 0) continue;
    used[dimension.id] = amount as Amount;
    hasActed ||= dimension.kind !== "clock";
  }
  const cut = run.status !== "completed";
  if (cut && !hasActed) return [];
  // A run ends once. Only where that could not be written is it looked whether there was another one of its name.
  const known = isRetry ? await store.document("history", run.id) : null;
  const { id, program, input, estimate, brought } = run;
  const sample = {
    input_bytes: sizeOf(input),
    used,
    spare: store.spare.most,
    cut,
    digest: program.digest,
  };
  const apart = brought === true ? ({ brought } as const) : {};
  const about = { run: id, program: program.name, ...apart, ended: run.ended ?? time.instant };
  return [putHistory({ ...about, ...sample, estimate: predictedOf(estimate) }, known?.version ?? 0)];
}

function predictedOf(estimate: RunRecord["estimate"]): Readonly<Record<string, Prediction>> | null {
  if (estimate === null) return null;
  const figures = Object.entries(estimate.dimensions).map(([id, { median, upper }]) => [id, { median, upper }]);
  return Object.fromEntries(figures);
}
