import { unwrap } from "../wasm/container.js";
import type { ParkedGuest } from "./errand.js";
import type { GuestParts } from "./parts.js";
import type { Kept } from "./session.js";

/** Names the build of an interpreter: only sessions that were saved with the same one can be restored in it. */
export function buildOf(parts: GuestParts): string {
  return parts.language === "python" ? parts.image.name : parts.image.hash;
}

/** The builds that the guests of a saved session differ from. It throws for what is garbled. */
export function buildsIn({ parked, underway }: Kept): readonly string[] {
  return [parked.guest, underway?.good.guest ?? null].flatMap((guest) => (guest === null ? [] : namedBy(guest)));
}

function namedBy(guest: ParkedGuest): readonly string[] {
  if (guest.language === "python") return [guest.state.image];
  return guest.state === null ? [] : [unwrap<{ readonly image: string }>(guest.state).data.image];
}
