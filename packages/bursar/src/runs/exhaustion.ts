import type { Amounts } from "../core/amount.js";
import { DEADLINE } from "../core/budget.js";
import { decide, type Finding, outermost } from "../core/decision.js";
import { newName } from "../runtime/names.js";
import type { Desk } from "./desk.js";
import type { Failure, RunRecord } from "./record.js";

/** Who dies before what was looked for is given back leaves it to others after so long. */
const EXPIRES_MS = 60_000;

/** A stand-in until it is known which clock or deadline has run out. */
export const OUT_OF_TIME: Finding = {
  budget: "",
  scope: "run",
  dimension: "wall_clock_ms",
  refusal: "exhausted",
  policy: "hard_stop",
  asked: 0,
  used: 0,
  reserved: 0,
  limit: 0,
};

/** What has run out for good, and whether that stops the run or pauses it. */
export interface Exhaustion {
  readonly kind: "stopped" | "paused";
  readonly finding: Finding;
}

/**
 * Looks whether something has run out that no call has asked for: a clock, or what a program uses by itself, of which it would have
 * needed `asked`. It leaves word of it in the chain. Null when everything goes on.
 */
export async function exhaustionOf(
  desk: Desk,
  { id, budget }: RunRecord,
  number: number,
  asked: Amounts = {},
): Promise<Exhaustion | null> {
  // What the program has used is written first.
  await desk.apply([]);
  const found = decide(await desk.path(budget), asked, desk.clock.now(), desk.dimensions);
  const { kind } = found;
  const finding = kind === "paused" ? outermost(found) : found.findings[0];
  if (finding === undefined || (kind !== "stopped" && kind !== "paused")) return null;
  // It may be looked for several times at the same place, and each time it may have been extended just then.
  const { instant } = desk.clock.now();
  const call = `${id}/exhausted ${number}@${desk.epoch} ${newName(instant)}`;
  const expires = instant + EXPIRES_MS;
  const [{ decision }] = await desk.apply([{ op: "reserve", budget, call, kind: "tool", asked, expires }]);
  if (decision.kind !== "admitted") return { kind, finding };
  // Somebody has extended it just now.
  await desk.apply([{ op: "release", call }]);
  return null;
}

export function failureOf({ dimension, budget }: Finding): Failure {
  const message =
    dimension === DEADLINE
      ? "the deadline has passed, and nothing may start after it"
      : `${dimension} is exhausted, and its policy is to stop`;
  return { code: "exhausted", message, data: { budget }, dimension };
}
