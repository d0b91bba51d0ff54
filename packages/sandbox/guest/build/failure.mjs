/** Why there is no guest, told to a person, and as an exit code to a script. */
export class BuildFailure extends Error {
  constructor(message, exitCode) {
    super(message);
    this.name = "BuildFailure";
    this.exitCode = exitCode;
  }
}

export const EXIT_CODES = { failed: 1, usage: 2, toolsMissing: 3, unreachable: 4 };
