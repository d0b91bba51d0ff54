/**
 * What can be wrong with a package.
 * - `package_name`: what was asked for is no name or requirement.
 * - `package_unknown`: the place it should come from has no such package.
 * - `package_native`: it needs native code, which the guest cannot load.
 * - `package_refused`: it is there, but not in a shape we take.
 * - `package_conflict`: no set of versions meets everything that is asked for.
 * - `package_missing`: it has not been added to this folder.
 * - `package_damaged`: what is in the folder is not what was put there.
 * - `source_unreachable`: the place packages come from does not answer.
 * - `source_answer`: it answers, but with something that cannot be used.
 */
export type PackageErrorCode =
  | "package_name"
  | "package_unknown"
  | "package_native"
  | "package_refused"
  | "package_conflict"
  | "package_missing"
  | "package_damaged"
  | "source_unreachable"
  | "source_answer";

/** Everything this folder throws on purpose; `code` is stable, the message says what to do and is for people. */
export class PackageError extends Error {
  override readonly name: string = "PackageError";
  readonly code: PackageErrorCode;

  constructor(code: PackageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A short, safe picture of a text for a message: it may come from a stranger's file, and be long or full of escapes. */
export function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

/** The code of an error of the operating system, such as `ENOENT`. */
export function systemCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** What an error says, with the cause that `fetch` hides behind "fetch failed". */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? `${error.message} (${cause.message})` : error.message;
}
