import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { type AnswerClaims, claimsIn, claimsInHeaders, joinedClaims, statedCost } from "../wire/answer-claims.js";
import { objectOf } from "../wire/json-object.js";

/** Where the SDK keeps what a provider has said beside the answer itself. */
interface Saying {
  readonly response?: unknown;
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
}

/** What an answer, or a part of a streamed one, says of its price: as the SDK writes it, and as it came. */
export function sdkClaims({ response, usage, providerMetadata }: Saying): AnswerClaims {
  const { modelId, body, headers } = objectOf(response as Json);
  const { raw } = objectOf(usage as Json);
  const metadata = objectOf(providerMetadata as Json);
  const said: JsonObject = { model: modelId ?? null, usage: raw ?? null, providerMetadata: metadata };
  const [openai, anthropic, openrouter] = [metadata.openai, metadata.anthropic, metadata.openrouter].map(objectOf);
  const named: JsonObject = { service_tier: openai?.serviceTier ?? null, usage: anthropic?.usage ?? null };
  const told = objectOf(headers);
  return [
    claimsIn(objectOf(body)),
    claimsIn(named),
    statedCost(objectOf(openrouter?.usage).cost),
    claimsInHeaders((name) => told[name]),
  ].reduce(joinedClaims, claimsIn(said));
}
