import type { Moment } from "./moment.js";

/** A moment as one line of JSON. */
export function jsonLine(moment: Moment): string {
  return JSON.stringify(moment);
}
