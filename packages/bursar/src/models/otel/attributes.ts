import type { Attributes } from "@opentelemetry/api";
import type { BudgetAmounts } from "../../core/input.js";
import type { CallEnded } from "../meter/call-record.js";
import type { TokenCounts } from "../wire/token-counts.js";

// The names of the conventions stand here as texts: the package that lists them has moved them about more than once.

/** The conventions' names of providers, by the ends of their hosts. Whoever is not known is named by the protocol that he speaks. */
const PROVIDERS: readonly (readonly [host: string, name: string])[] = [
  ["openai.azure.com", "azure.ai.openai"],
  ["services.ai.azure.com", "azure.ai.inference"],
  ["amazonaws.com", "aws.bedrock"],
  ["aiplatform.googleapis.com", "gcp.vertex_ai"],
  ["generativelanguage.googleapis.com", "gcp.gemini"],
  ["api.mistral.ai", "mistral_ai"],
  ["api.groq.com", "groq"],
  ["api.x.ai", "x_ai"],
  ["api.deepseek.com", "deepseek"],
  ["api.perplexity.ai", "perplexity"],
  ["api.cohere.com", "cohere"],
];

/** What spans and metrics have in common. */
export function commonAttributes({ protocol, model, url }: CallEnded): Attributes {
  const address = url !== null && URL.canParse(url) ? new URL(url) : null;
  return {
    "gen_ai.operation.name": operationOf(protocol),
    "gen_ai.provider.name": providerOf(protocol, address?.hostname ?? ""),
    "gen_ai.request.model": model,
    ...(address !== null && { "server.address": address.hostname, "server.port": portOf(address) }),
  };
}

export function operationOf(protocol: string): string {
  return protocol.endsWith("embeddings") ? "embeddings" : "chat";
}

function providerOf(protocol: string, host: string): string {
  const known = PROVIDERS.find(([end]) => `.${host}`.endsWith(`.${end}`) || host.endsWith(`-${end}`));
  return known?.[1] ?? (protocol.startsWith("anthropic") ? "anthropic" : "openai");
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "http:" ? 80 : 443) : Number(port);
}

/** What a span says beside that. */
export function callAttributes(record: CallEnded): Attributes {
  const { id, budget, stream, estimated, charged, remaining, counts, refusal } = record;
  return {
    "bursar.call.id": id,
    "bursar.budget.id": budget,
    "bursar.stream": stream,
    "bursar.estimated": estimated,
    ...amountsBelow("bursar.charged", charged),
    ...amountsBelow("bursar.remaining", remaining),
    ...(counts !== null && usageAttributes(counts)),
    ...(refusal !== null && {
      "bursar.refusal.code": refusal.code,
      ...(refusal.scope !== undefined && { "bursar.refusal.scope": refusal.scope }),
      ...(refusal.dimension !== undefined && { "bursar.refusal.dimension": refusal.dimension }),
      ...(refusal.policy !== undefined && { "bursar.refusal.policy": refusal.policy }),
    }),
  };
}

function usageAttributes(counts: TokenCounts): Attributes {
  const { input, output, cache_read, cache_write = 0, cache_write_1h = 0, reasoning } = counts;
  const written = cache_write + cache_write_1h;
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    ...(cache_read !== undefined && { "gen_ai.usage.cache_read.input_tokens": cache_read }),
    ...(written > 0 && { "gen_ai.usage.cache_creation.input_tokens": written }),
    ...(reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": reasoning }),
  };
}

function amountsBelow(prefix: string, amounts: BudgetAmounts): Attributes {
  return Object.fromEntries(Object.entries(amounts).map(([id, amount]) => [`${prefix}.${id}`, amount]));
}

/** What went wrong, by name alone: messages of errors may hold what nobody wants in his traces. */
export function errorType({ outcome, refusal, error }: CallEnded): string | null {
  if (outcome === "done") return null;
  if (refusal !== null) return refusal.code;
  return error instanceof Error ? error.name : "_OTHER";
}
