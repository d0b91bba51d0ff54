import type { Time } from "../core/time.js";

/** The two clocks. An adapter must never let the monotonic one go back. */
export interface Clock {
  now(): Time;
}
