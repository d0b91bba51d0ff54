import { InputError, show } from "../core/errors.js";

/** What a session may be called by whoever starts a run: names with a colon are those of tenants, and not his to choose. */
export const SESSION_NAME: RegExp = /^[\w.@-]{1,100}$/;

/** Throws when a session cannot be called so. */
export function checkSessionName(name: string): void {
  if (SESSION_NAME.test(name)) return;
  throw new InputError("session", `is ${show(name)}; allowed: 1 to 100 letters, digits and . _ @ -`);
}
