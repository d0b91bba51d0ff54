/** A provider's interface for batches did not do what was asked of it. */
export class WireFailure extends Error {
  override readonly name: string = "WireFailure";
  /**
   * `refused`: it said no, and nothing has happened. `busy`: nothing has happened either, and later it may say yes. `unknown`: it
   * may have happened.
   */
  readonly kind: "refused" | "busy" | "unknown";
  readonly status: number | null;

  constructor(kind: WireFailure["kind"], message: string, status: number | null = null) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}
