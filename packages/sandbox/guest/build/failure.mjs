/** Why there is no guest, told to a person, and as an exit code to a script. */
export class BuildFailure extends Error {
  /** `missing` are Debian's packages that somebody has to install, and `command` does it. */
  constructor(message, exitCode, { missing = [], command = null, cause } = {}) {
    super(message, { cause });
    this.name = "BuildFailure";
    this.exitCode = exitCode;
    this.missing = missing;
    this.command = command;
  }
}

export const EXIT_CODES = { failed: 1, usage: 2, toolsMissing: 3, unreachable: 4 };

/** What a person can do something about is told in a sentence; anything else is a mistake of ours. */
export function told(error) {
  if (error instanceof BuildFailure) return error.message;
  return typeof error.code === "string" && "syscall" in error ? error.message : error.stack;
}
