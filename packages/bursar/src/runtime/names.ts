import { randomBytes } from "node:crypto";

/**
 * A name that nobody else has, as a UUID of version 7. Names made later sort later, so that in the index of a store
 * neighbours in time are neighbours, and a step touches one page instead of one page for every call.
 */
export function newName(instant: number): string {
  const time = Math.max(0, Math.floor(instant)).toString(16).padStart(12, "0").slice(-12);
  const random = randomBytes(10);
  random[0] = ((random[0] as number) & 0x0f) | 0x70;
  random[2] = ((random[2] as number) & 0x3f) | 0x80;
  const rest = random.toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}
