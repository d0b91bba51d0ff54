/** Thrown for options that cannot be used. It names the one, and says what is allowed. */
export class SandboxInputError extends Error {
  override readonly name = "SandboxInputError";
  readonly code = "invalid_input";
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field} ${problem}`);
    this.field = field;
  }
}
