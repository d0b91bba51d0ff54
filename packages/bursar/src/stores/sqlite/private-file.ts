import { closeSync, openSync } from "node:fs";

/**
 * Makes a new file readable for its owner alone: prompts and answers are in it. The files that SQLite makes beside it have the same
 * rights, and whoever wants others to read it says so once.
 */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch {
    // It is there, or cannot be made, which is told better when it is opened.
  }
}
