import type { JsonObject } from "bursar";
import type { ShownSandbox } from "bursar/server";
import type { LazySandbox } from "../app/equipment/lazy-sandbox.js";
import { sandboxOf } from "../app/equipment/opened-sandbox.js";

/** The sessions of this process's sandbox; to look at them does not open it. */
export function shownSandbox(lazy: LazySandbox): ShownSandbox {
  const open = sandboxOf(lazy);
  return {
    list: async () => (lazy.isOpen ? ((await (await open()).sessions()) as unknown as readonly JsonObject[]) : []),
    async destroy(id) {
      if (!lazy.isOpen) return false;
      const sandbox = await open();
      const there = (await sandbox.sessions()).some((session) => session.id === id);
      if (there) await sandbox.session(id).destroy();
      return there;
    },
  };
}
