import { randomUUID } from "node:crypto";

/**
 * A name that nobody else has, as a UUID of version 7. Names made later sort later, so that in the index of a store
 * neighbours in time are neighbours, and a step touches one page instead of one page for every call.
 */
export function newName(instant: number): string {
  const time = Math.max(0, Math.floor(instant)).toString(16).padStart(12, "0").slice(-12);
  // Node draws chance for many of these at once, which single bytes are not worth.
  const random = randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}
