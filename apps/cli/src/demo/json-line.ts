import type { Moment } from "../demo/moment.js";

/** A moment as one line of JSON. */
export function jsonLine(moment: Moment): string {
  return JSON.stringify(moment);
}
