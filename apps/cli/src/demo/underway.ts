import type { Moment } from "./moment.js";

/** The calls that are being made, and those that wait. */
export interface Underway {
  readonly inFlight: readonly string[];
  readonly waiting: readonly string[];
}

export const IDLE: Underway = { inFlight: [], waiting: [] };

/** What a moment makes of the calls under way. */
export function follow(underway: Underway, moment: Moment): Underway {
  const { inFlight, waiting } = underway;
  if (moment.kind === "waiting") return { inFlight, waiting: [...waiting, moment.step_id] };
  if (moment.kind !== "link") return underway;
  const { action_type, event, data } = moment.link;
  const step = String(data.step_id);
  const others = (steps: readonly string[]) => steps.filter((each) => each !== step);
  if (action_type === "StepStarted") return { inFlight: [...inFlight, step], waiting: others(waiting) };
  if (action_type === "StepRefused") return { inFlight, waiting: others(waiting) };
  if (event === "Consumption") return { inFlight: others(inFlight), waiting };
  return underway;
}
