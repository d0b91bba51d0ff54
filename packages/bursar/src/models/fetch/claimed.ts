import { type AnswerClaims, claimsInHeaders, joinedClaims, withoutSecret } from "../wire/answer-claims.js";

/** Headers in which requests show their key. */
const SECRETS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;

/** What a response says of its price, in its headers and beyond, without the key that the request has shown. */
export function claimedBy(request: Headers, answer: Headers, said: AnswerClaims): AnswerClaims {
  const claims = joinedClaims(
    claimsInHeaders((name) => answer.get(name)),
    said,
  );
  // Nearly always there is nothing but the name of a model.
  return SECRETS.reduce((bare, name) => withoutSecret(bare, keyIn(request.get(name))), claims);
}

/** The key without the word for its kind before it. */
function keyIn(value: string | null): string | null {
  return value === null ? null : value.slice(value.lastIndexOf(" ") + 1);
}
