import type { Amounts } from "./amount.js";
import type { Call } from "./call.js";
import { LedgerError } from "./errors.js";
import type { OutcomeOf, ReserveOperation } from "./operation.js";

// What is answered to an operation that was done before: nothing happens twice.

const ADMITTED = Object.freeze({ kind: "admitted" as const, findings: Object.freeze([]) });

/** The same question gets the same answer, as long as it is open. Afterwards the call has been made. */
export function repeatedReserve(
  known: Call,
  budget: string,
  asked: Amounts,
  { least, learned }: Pick<ReserveOperation, "least" | "learned">,
): OutcomeOf<ReserveOperation> {
  const isFixed = least === undefined && learned === undefined;
  const fits = isFixed ? same(known.asked, asked) : isCut(known.asked, asked);
  if (known.budget !== budget || !fits) throw reused(known.id);
  if (known.status !== "reserved") {
    throw new LedgerError(`call ${known.id} was ${known.status} already; a further attempt needs an id of its own`);
  }
  return { op: "reserve", decision: ADMITTED, granted: known.asked, notices: [], repeated: true, links: [] };
}

/** How far a call was cut depends on the moment, so of a call that may be cut only the upper bound is known. */
function isCut(granted: Amounts, asked: Amounts): boolean {
  return Object.keys(granted).every((id) => (granted[id] ?? 0) <= (asked[id] ?? 0));
}

export function reused(call: string): LedgerError {
  return new LedgerError(`call ${call} was made before, with other amounts or in another budget`);
}

export function same(a: Amounts, b: Amounts): boolean {
  return [...Object.keys(a), ...Object.keys(b)].every((id) => (a[id] ?? 0) === (b[id] ?? 0));
}

interface RepeatedSettlement<Op> {
  readonly op: Op;
  readonly repeated: true;
  readonly notices: readonly [];
  readonly links: readonly [];
}

export function repeatedSettlement<Op extends "commit" | "charge" | "release">(op: Op): RepeatedSettlement<Op> {
  return { op, repeated: true, notices: [], links: [] };
}
