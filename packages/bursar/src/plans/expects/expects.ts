import { MAX_AMOUNT } from "../../core/amount.js";
import type { Opinion, Prediction } from "../../ports/foresight.js";
import type { Program } from "../../ports/program.js";
import type { Plan } from "../plan.js";
import { planForeseen } from "./children.js";
import { COUNTS, type Foreseen, Sums } from "./foreseen.js";
import type { ChildName } from "./place.js";
import { Questions } from "./questions.js";
import type { Value } from "./value.js";
import { Walk } from "./walk.js";

/** A question may lead to another, but not without end. */
const MOST_PASSES = 5;

/** What the guest that executes a plan uses itself. */
const GUEST: ReadonlySet<string> = new Set(["fuel", "memory_peak_bytes", "wall_clock_ms"]);

/**
 * Reads off a plan what a run of it will take: every call at its quote, as often as it is made with this input. It looks through
 * the plan with what is known, and does nothing. Where only the execution will tell which way a plan goes, the median lies
 * between all of them, and the bound is the dearest. What cannot be known is left out, and `about` says why.
 *
 * @example
 * ```ts
 * const plan = compilePlan(text);
 * const program = { ...guestProgram(name, source, sandbox), expects: planExpects(plan, name) };
 * ```
 */
export function planExpects(
  plan: Plan,
  name: string,
  childName: ChildName = childProgramName,
): NonNullable<Program["expects"]> {
  return async (input, known) => {
    const questions = new Questions(known);
    const sums = new Sums(known.dimensions);
    const look = () => planForeseen(new Walk(sums, questions, { plan, name, childName }), input as Value);
    let foreseen = look();
    for (let pass = 1; pass < MOST_PASSES && (await questions.ask()); pass++) foreseen = look();
    const opinion = opinionOf(foreseen);
    // Every call at its quote is the most; what runs below were seen to take is not.
    return plan.children.length === 0 ? { ...opinion, most: true } : opinion;
  };
}

/** What `planProgram` calls the program of a nested run. */
export function childProgramName(name: string, child: Plan, index: number): string {
  return `${name}/${child.name ?? "run"}.${index}`;
}

function opinionOf({ amounts, open, why }: Foreseen): Opinion {
  const dimensions: Record<string, Prediction> = {};
  if (!open.has("steps")) dimensions.steps = { median: 0, upper: 0 };
  for (const [id, { median, upper }] of amounts) {
    const isCount = (COUNTS as readonly string[]).includes(id);
    if (isCount || GUEST.has(id) || open.has(id)) continue;
    // More than can be counted fits nowhere, which must not look like nothing at all.
    dimensions[id] = {
      median: Math.min(MAX_AMOUNT, Math.round(median)),
      upper: Math.min(MAX_AMOUNT, Math.ceil(upper)),
    };
  }
  const counts = COUNTS.flatMap((count) => counted(count, amounts.get(count), open.has(count)));
  const isOpen = COUNTS.every((count) => open.has(count));
  const calls = isOpen ? "an unknown number of calls" : counts.length === 0 ? "no calls" : counts.join(", ");
  return { dimensions, about: [`the plan itself: ${calls}`, ...reasons(why)].join("; ") };
}

function counted(what: string, amount: Prediction | undefined, isOpen: boolean): readonly string[] {
  if (isOpen) return [`an unknown number of ${what}`];
  if (amount === undefined || amount.upper === 0) return [];
  const [median, upper] = [Math.round(amount.median), Math.ceil(amount.upper)];
  const few = upper === 1 ? what.slice(0, -1) : what;
  if (amount.median === amount.upper) return [`${upper} ${few}`];
  return [median === upper ? `at most ${upper} ${few}` : `about ${median} ${few}, at most ${upper}`];
}

const MOST_REASONS = 3;

function reasons(why: ReadonlySet<string>): readonly string[] {
  const all = [...why];
  const told = all.slice(0, MOST_REASONS);
  return all.length > MOST_REASONS ? [...told, `and ${all.length - MOST_REASONS} more`] : told;
}
