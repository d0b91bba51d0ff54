import { BursarError } from "../core/errors.js";

/** Who wants something: a person, or a program that acts for one. */
export interface Principal {
  readonly name: string;
  readonly role: "viewer" | "operator" | "agent" | "admin";
  /** The run whose credentials these are, when a run acts by itself. */
  readonly run?: string;
}

/** Whoever starts a run in a process of his own is its operator. */
export const OPERATOR: Principal = { name: "operator", role: "operator" };

/** Somebody wants something that is not his to have. */
export class ForbiddenError extends BursarError {
  override readonly name: string = "ForbiddenError";

  constructor(message: string) {
    super("forbidden", message);
  }
}

const DECIDING: ReadonlySet<Principal["role"]> = new Set(["operator", "admin"]);

/** Whoever decides over a run must be somebody else than the run, whatever role its credentials have. */
export function mayDecide({ name, role, run }: Principal, what: string): void {
  if (run !== undefined) throw new ForbiddenError(`${name} acts for run ${run}, and no run may ${what}`);
  if (!DECIDING.has(role)) throw new ForbiddenError(`${name} is ${role}; only an operator or an admin may ${what}`);
}

/** Whoever may override policies in either direction; all others may only tighten. */
export function isOperator({ role, run }: Principal): boolean {
  return run === undefined && DECIDING.has(role);
}
