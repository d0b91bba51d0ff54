/** Thrown out of a guest that has ended itself. Its frames are abandoned, so nothing of it runs any more. */
export class ProcExit extends Error {
  override readonly name = "ProcExit";
  readonly code: number;

  constructor(code: number) {
    super(`the guest exited with code ${code}`);
    this.code = code;
  }
}
