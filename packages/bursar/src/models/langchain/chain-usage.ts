import type { JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { type AnswerClaims, claimsIn, joinedClaims, NO_CLAIMS } from "../wire/answer-claims.js";
import type { TokenCounts } from "../wire/token-counts.js";

type Fields = Readonly<Record<string, unknown>>;

/** What LangChain says was used, by all answers of one call; null when it says nothing that can be counted. */
export function chainCounts(output: unknown): TokenCounts | null {
  const { generations, llmOutput } = fieldsOf(output);
  const answers = Array.isArray(generations) ? generations.flat() : [];
  const messages = answers.map((answer) => fieldsOf(fieldsOf(answer).message));
  const counted = messages.flatMap((message) => messageCounts(message) ?? []);
  // Where several answers were asked for, providers report them together, and LangChain repeats that with each of them.
  const [first = null] = [...counted].sort((a, b) => b.input + b.output - (a.input + a.output));
  return first ?? wholeCounts(fieldsOf(llmOutput));
}

/** What LangChain says of the price of an answer, as the provider has said it. */
export function chainClaims(output: unknown): AnswerClaims {
  const { generations, llmOutput } = fieldsOf(output);
  const answers = Array.isArray(generations) ? generations.flat() : [];
  const told = answers.map((answer) => fieldsOf(fieldsOf(fieldsOf(answer).message).response_metadata));
  return [...told, fieldsOf(llmOutput)].map(metadataClaims).reduce(joinedClaims, NO_CLAIMS);
}

/** Models are named in either way, and usage too. */
function metadataClaims(metadata: Fields): AnswerClaims {
  const { model_name, model = model_name, usage = metadata.tokenUsage } = metadata;
  return claimsIn({ ...metadata, model, usage } as JsonObject);
}

function messageCounts({ usage_metadata, response_metadata }: Fields): TokenCounts | null {
  const said = fieldsOf(usage_metadata);
  const input = said.input_tokens;
  const output = said.output_tokens;
  // No request is empty, so whoever counts nothing has not counted.
  if (!isCount(input) || input === 0 || !isCount(output)) return null;
  const { cache_read, cache_creation, audio: input_audio } = fieldsOf(said.input_token_details);
  const { reasoning, audio: output_audio } = fieldsOf(said.output_token_details);
  const writes = cacheWrites(cache_creation, fieldsOf(fieldsOf(response_metadata).usage));
  const read = countOr0(cache_read);
  if (read + (writes.cache_write ?? 0) + (writes.cache_write_1h ?? 0) > input) return null;
  return {
    input,
    output,
    ...writes,
    ...(read > 0 && { cache_read: read }),
    ...(countOr0(input_audio) > 0 && { input_audio: countOr0(input_audio) }),
    ...(countOr0(reasoning) > 0 && { reasoning: countOr0(reasoning) }),
    ...(countOr0(output_audio) > 0 && { output_audio: countOr0(output_audio) }),
  };
}

/** How long what was written stays in the cache decides its price. Where nobody says, it is the longer time. */
function cacheWrites(written: unknown, usage: Fields): Pick<TokenCounts, "cache_write" | "cache_write_1h"> {
  const whole = countOr0(written);
  if (whole === 0) return {};
  const { ephemeral_5m_input_tokens: short } = fieldsOf(usage.cache_creation);
  const cache_write = Math.min(whole, countOr0(short));
  const cache_write_1h = whole - cache_write;
  return { ...(cache_write > 0 && { cache_write }), ...(cache_write_1h > 0 && { cache_write_1h }) };
}

/** The older way, without any parts. */
function wholeCounts({ tokenUsage, estimatedTokenUsage: _ }: Fields): TokenCounts | null {
  const { promptTokens: input, completionTokens: output } = fieldsOf(tokenUsage);
  return isCount(input) && input > 0 && isCount(output) ? { input, output } : null;
}

function countOr0(value: unknown): number {
  return isCount(value as number) ? (value as number) : 0;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
