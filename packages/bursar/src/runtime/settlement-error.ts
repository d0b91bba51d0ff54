import type { CallId } from "../core/call.js";
import { BursarError } from "../core/errors.js";

/** A call was made, but what it used could not be recorded. Its reservation stands until it expires and is charged. */
export class SettlementError extends BursarError {
  override readonly name: string = "SettlementError";
  /** What the effect gave back, which must not be lost. */
  readonly value: unknown;

  constructor(call_id: CallId, value: unknown, cause: unknown) {
    super("not_settled", `call ${call_id} was made, but what it used could not be recorded`, { cause });
    this.value = value;
  }
}
