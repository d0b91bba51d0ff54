import type { Deed } from "./deed.js";

/** Lets go of a deed that is not done after all: whoever has reckoned with it hears of it. */
export function drop(deed: Deed): void {
  if (deed.kind === "call") deed.over?.();
  else if (deed.kind === "batch") deed.over?.(false);
  else return;
  deed.unwritten?.();
}
