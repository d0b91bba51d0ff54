import { SandboxInputError } from "./input-error.js";

/**
 * Why a saved session cannot be restored.
 * - `key`: it is not signed with this sandbox's key: it was saved with another one, or changed since.
 * - `newer`, `older`: it was saved in a format that this version does not read.
 * - `build`: it was saved with another build of the interpreter.
 * - `damaged`: what was saved cannot be read.
 * - `packages`: a package that it has mounted is not here.
 */
export type SavedSessionProblem = "key" | "newer" | "older" | "build" | "damaged" | "packages";

/** Thrown for a saved session that cannot be restored here. `reason` says why. */
export class SavedSessionError extends SandboxInputError {
  readonly reason: SavedSessionProblem;

  constructor(reason: SavedSessionProblem, problem: string) {
    super("session", problem);
    this.reason = reason;
  }
}
