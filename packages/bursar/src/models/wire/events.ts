import type { Json } from "../../core/chain/canonical.js";
import type { EventReading } from "./protocol.js";

/** Writes one event of a stream. Nothing in JSON breaks a line, so one line of data is enough. */
export function eventText(event: string, data: Json | "[DONE]"): string {
  const name = event === "" ? "" : `event: ${event}\n`;
  return `${name}data: ${data === "[DONE]" ? data : JSON.stringify(data)}\n\n`;
}

/** The reading of an event that is passed on as it came. */
export const SAME: EventReading = { pass: "same", last: false };

/** The reading of an event that ends an answer. */
export const LAST: EventReading = { pass: "same", last: true };
