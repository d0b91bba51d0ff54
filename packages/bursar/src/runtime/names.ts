import { randomUUID } from "node:crypto";

/**
 * A name that nobody else has, as a UUID of version 7. Names made later sort later, so that in the index of a store
 * neighbours in time are neighbours, and a step touches one page instead of one page for every call.
 */
export function newName(instant: number): string {
  const ms = Math.max(0, Math.floor(instant));
  if (ms !== last.ms) last = { ms, start: startAt(ms) };
  // Node draws chance for many of these at once, which single bytes are not worth.
  return last.start + randomUUID().slice(15);
}

/** What names of the same millisecond begin with. */
let last = { ms: 0, start: startAt(0) };

function startAt(ms: number): string {
  const time = ms.toString(16).padStart(12, "0").slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}
