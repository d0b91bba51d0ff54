import { decide, type Finding } from "../core/decision.js";
import type { Desk } from "./desk.js";
import type { Failure, RunRecord } from "./record.js";

/** What has run out for good, and whether that stops the run or pauses it. */
export interface Exhaustion {
  readonly kind: "stopped" | "paused";
  readonly finding: Finding;
}

/**
 * Looks whether something has run out that no call has asked for: a clock, or what a program has used by itself. It leaves word of
 * it in the chain. Null when everything goes on.
 */
export async function exhaustionOf(desk: Desk, { id, budget }: RunRecord, number: number): Promise<Exhaustion | null> {
  // What the program has used is written first.
  await desk.apply([]);
  const { kind, findings } = decide(await desk.path(budget), {}, desk.clock.now(), desk.dimensions);
  const [finding] = findings;
  if (finding === undefined || (kind !== "stopped" && kind !== "paused")) return null;
  const call = `${id}/exhausted ${number}@${desk.epoch}`;
  const [{ decision }] = await desk.apply([{ op: "reserve", budget, call, kind: "tool", asked: {} }]);
  if (decision.kind !== "admitted") return { kind, finding };
  // Somebody has extended it just now.
  await desk.apply([{ op: "release", call }]);
  return null;
}

export function failureOf({ dimension, budget }: Finding): Failure {
  const message = `${dimension} is exhausted, and its policy is to stop`;
  return { code: "exhausted", message, data: { budget }, dimension };
}
