import type { Arity } from "./expression.js";

/**
 * A function that plans can use. Its code is JavaScript for the guest: its first parameter is the number of the position
 * it is called from, and what it needs of the library it names with a dollar sign.
 */
export interface Builtin extends Arity {
  /** What plans call it. */
  readonly name: string;
  /** What the guest calls it, without the dollar sign. */
  readonly id: string;
  readonly code: string;
  /** Which of its arguments it calls. It is a generator then, so that one code serves those that wait and those that do not. */
  readonly calls?: number;
  /** Whether it always waits for the host. */
  readonly waits?: boolean;
  /** Whether it gives true or false and nothing else. */
  readonly isTest?: boolean;
}
