import { type AnswerClaims, CLAIMING_MEMBERS, CLAIMING_WORD, claimsIn, NO_CLAIMS } from "./answer-claims.js";
import { parsedObject } from "./json-object.js";
import { membersIn } from "./member-in.js";
import type { Protocol } from "./protocol.js";
import type { TokenCounts } from "./token-counts.js";

/** What an answer says of what it has used and cost. */
export interface AnswerReport {
  /** Null when it says nothing that can be counted. */
  readonly counts: TokenCounts | null;
  readonly claims: AnswerClaims;
}

export const NO_REPORT: AnswerReport = { counts: null, claims: NO_CLAIMS };

/**
 * What the text of a whole answer says. Of most protocols that stands in a few members, and beside them there may be a million numbers
 * that nobody here wants.
 */
export function reportIn(protocol: Protocol, text: string): AnswerReport {
  const { readsAllWith: word } = protocol;
  const isAll = protocol.readsAll || text.includes(CLAIMING_WORD) || (word !== undefined && text.includes(word));
  const answer = (isAll ? undefined : membersIn(text, CLAIMING_MEMBERS)) ?? parsedObject(text);
  return answer === null ? NO_REPORT : { counts: protocol.usage(answer), claims: claimsIn(answer) };
}
