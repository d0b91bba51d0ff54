import type { Json } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import type { Store } from "../ports/store.js";
import { answersOf } from "../runs/answers.js";
import { executionIn } from "../runs/execution.js";
import type { AnswerEntry } from "../runs/journal.js";
import { hasEnded, type RunRecord } from "../runs/record.js";
import { type History, historyOf } from "./history.js";
import { countIn } from "./lists.js";
import { problemOf } from "./problems.js";
import type { Page, StepView } from "./shapes.js";
import { asTold, type StoryStep } from "./story.js";

export interface StepListOptions {
  /** The number of the first one. */
  readonly from?: number;
  readonly limit?: number;
}

type Told = Pick<StepView, "problem" | "execution">;

/** The steps of a run by their numbers. */
export async function listSteps(store: Store, run: RunRecord, options: StepListOptions = {}): Promise<Page<StepView>> {
  const { from = 0 } = options;
  if (!Number.isSafeInteger(from) || from < 0) {
    throw new InputError("from", `is ${show(from)}; allowed: a whole number from 0 on`);
  }
  const limit = countIn(options.limit, "limit");
  const history = await historyOf(store, run);
  const steps = history.story.steps().filter(({ number }) => number >= from);
  const shown = steps.slice(0, limit);
  await hear(store, run, history, shown);
  const next = steps[limit];
  return {
    items: shown.map((step) => viewOf(step, history.told.get(step.number), run)),
    next: next === undefined ? null : String(next.number),
  };
}

function viewOf(step: StoryStep, told: Told | null | undefined, run: RunRecord): StepView {
  return asTold({ ...step, execution: told?.execution ?? null }, told?.problem, run);
}

/** Reads the journal, unless what it says of these steps is known: answers never change, and after its end there are no more. */
async function hear(store: Store, run: RunRecord, { told }: History, steps: readonly StoryStep[]): Promise<void> {
  const untold = steps.filter(({ number, state }) => state === "done" && !told.has(number));
  if (untold.length === 0) return;
  for await (const { number, answered } of answersOf(store, run.id)) told.set(number, toldBy(answered));
  if (!hasEnded(run)) return;
  for (const { number } of untold) told.set(number, told.get(number) ?? null);
}

function toldBy(answered: AnswerEntry["answered"]): Told {
  if ("error" in answered) return { problem: problemOf(answered), execution: null };
  return { problem: null, execution: executionIn(metadataIn(answered.value)) };
}

/** What the sandbox says of an execution stands in the metadata of its result. */
function metadataIn(value: Json): unknown {
  return typeof value === "object" && value !== null && "metadata" in value ? value.metadata : null;
}
