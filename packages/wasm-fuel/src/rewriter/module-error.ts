/** Why a module cannot be metered: its bytes make no sense, or it uses something that we do not count. */
export type ModuleErrorCode = "malformed" | "unsupported";

/** A module that cannot be metered. Nothing of it has been run. */
export class ModuleError extends Error {
  override readonly name = "ModuleError";
  readonly code: ModuleErrorCode;
  /** The feature that is not supported, such as `threads`; absent for malformed modules. */
  readonly feature?: string;

  private constructor(message: string, code: ModuleErrorCode, feature?: string) {
    super(message);
    this.code = code;
    if (feature !== undefined) this.feature = feature;
  }

  static malformed(what: string, position: number): ModuleError {
    return new ModuleError(`the module is malformed at byte ${position}: ${what}`, "malformed");
  }

  static unsupported(feature: string, position: number): ModuleError {
    const advice = "compile the guest without it";
    return new ModuleError(
      `the module uses ${feature} at byte ${position}, which is not supported; ${advice}`,
      "unsupported",
      feature,
    );
  }
}
