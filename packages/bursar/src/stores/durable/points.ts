import { channel } from "node:diagnostics_channel";

/** The moments of a transaction at which a machine may die. */
export type Point = "begun" | "decided" | "written" | "committed" | "answered";

const points = channel("bursar:store");

/** Tells whoever listens on the channel `bursar:store` how far a transaction has come. */
export function reach(point: Point): void {
  if (points.hasSubscribers) points.publish(point);
}
