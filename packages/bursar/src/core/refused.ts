import type { Decision } from "./decision.js";
import { BursarError } from "./errors.js";

/** A reservation that had to be admitted was not, so nothing of its list was done. */
export class RefusedError extends BursarError {
  override readonly name: string = "RefusedError";
  readonly decision: Decision;

  constructor(call: string, decision: Decision) {
    super("refused", `call ${call} had to be admitted, but was not: ${decision.kind}`);
    this.decision = decision;
  }
}
