import { BursarError } from "../../core/errors.js";

/** A request may cost something that nobody can bound beforehand, so it is not made. */
export class UnboundedError extends BursarError {
  override readonly name: string = "UnboundedError";
  /** The field of the request. */
  readonly field: string;

  constructor(field: string, why: string) {
    super("unbounded", `${field} ${why}`);
    this.field = field;
  }
}
