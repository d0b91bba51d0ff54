/** What the sandbox refuses. It and its packages are a package of their own, with errors of their own. */
export function isSandboxFault(error: unknown): error is Error {
  return error instanceof Error && (error.name === "SandboxInputError" || error.name === "PackageError");
}
