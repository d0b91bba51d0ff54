import type { Moment } from "../demo/moment.js";

/** The calls that are being made, and those that wait. */
export interface Activity {
  readonly inFlight: readonly string[];
  readonly waiting: readonly string[];
}

export const IDLE: Activity = { inFlight: [], waiting: [] };

/** What a moment makes of the calls under way. */
export function follow(activity: Activity, moment: Moment): Activity {
  const { inFlight, waiting } = activity;
  if (moment.kind === "waiting") return { inFlight, waiting: [...waiting, moment.step_id] };
  if (moment.kind !== "link") return activity;
  const { action_type, event, data } = moment.link;
  const step = String(data.step_id);
  const others = (steps: readonly string[]) => steps.filter((each) => each !== step);
  if (action_type === "StepStarted") return { inFlight: [...inFlight, step], waiting: others(waiting) };
  if (action_type === "StepRefused") return { inFlight, waiting: others(waiting) };
  if (event === "Consumption") return { inFlight: others(inFlight), waiting };
  return activity;
}
