import type { Amounts } from "../../core/amount.js";
import type { Operation, Outcome } from "../../core/operation.js";

/**
 * An outcome on its way between two threads. What nearly all calls come to is told in brief, and whoever asked puts it together again
 * with what he had asked for: to write it out takes as long as to decide on it, and an entry may be megabytes.
 */
export type Brief =
  | Outcome
  | readonly [amounts: Amounts, links: readonly string[], left_ms?: number | null]
  | readonly [];

/** Tells in brief what went as one would expect. */
export function brief(outcome: Outcome): Brief {
  switch (outcome.op) {
    case "reserve": {
      const { decision, granted, notices, repeated, left_ms = null, links } = outcome;
      const plain = decision.kind === "admitted" && decision.findings.length === 0;
      return plain && notices.length === 0 && !repeated ? [granted, links, left_ms] : outcome;
    }
    case "commit": {
      const { charged, estimated, repeated, notices, links } = outcome;
      return estimated || repeated || notices.length > 0 ? outcome : [charged, links];
    }
    case "journal":
      return outcome.repeated || outcome.links.length > 0 ? outcome : [];
    case "put":
      return [];
    default:
      return outcome;
  }
}

/** The outcomes of a list of operations as they were before they were told in brief. */
export function wholeOutcomes(told: readonly Brief[], operations: readonly Operation[]): readonly Outcome[] {
  return told.map((each, index) => (isBrief(each) ? wholeOutcome(each, operations[index] as Operation) : each));
}

function wholeOutcome(
  [amounts = {}, links = [], left_ms = null]: Exclude<Brief, Outcome>,
  operation: Operation,
): Outcome {
  switch (operation.op) {
    case "reserve":
      return {
        op: "reserve",
        decision: { kind: "admitted", findings: [] },
        granted: amounts,
        notices: [],
        left_ms,
        repeated: false,
        links,
      };
    case "commit":
      return { op: "commit", charged: amounts, estimated: false, repeated: false, notices: [], links };
    case "journal": {
      const { run, key, entry } = operation;
      return { op: "journal", entry: { run, key, entry }, repeated: false, links };
    }
    case "put": {
      const { op: _, version, ...document } = operation;
      return { op: "put", document: { ...document, version: version + 1 }, links };
    }
    default:
      throw new Error(`a ${operation.op} is not told in brief`);
  }
}

function isBrief(told: Brief): told is Exclude<Brief, Outcome> {
  return Array.isArray(told);
}
