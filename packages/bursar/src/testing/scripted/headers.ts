import type { Provider } from "./wire.js";

/** What a response says about itself and about rate limits. */
export interface About {
  readonly request_id: string;
  readonly instant: number;
  /** Whether the limit of requests is reached. */
  readonly limited: boolean;
  /** When there is room again. */
  readonly reset_s: number;
}

/** A scripted model counts no rates: its limits are only there for clients that read them. */
const MOST_REQUESTS = 10_000;
const MOST_TOKENS = 2_000_000;

/** The headers that every answer of a provider has. The last thing said tells that nobody should take a script for a model. */
export function headersFor(provider: Provider, about: About): Readonly<Record<string, string>> {
  const own = provider === "openai" ? openaiHeaders(about) : anthropicHeaders(about);
  return { ...own, "x-bursar-scripted": "true" };
}

function openaiHeaders({ request_id, limited, reset_s }: About): Readonly<Record<string, string>> {
  return {
    "x-request-id": request_id,
    "openai-processing-ms": "1",
    "openai-version": "2020-10-01",
    "x-ratelimit-limit-requests": String(MOST_REQUESTS),
    "x-ratelimit-limit-tokens": String(MOST_TOKENS),
    "x-ratelimit-remaining-requests": String(limited ? 0 : MOST_REQUESTS - 1),
    "x-ratelimit-remaining-tokens": String(MOST_TOKENS),
    "x-ratelimit-reset-requests": `${reset_s}s`,
    "x-ratelimit-reset-tokens": "0s",
  };
}

function anthropicHeaders({ request_id, instant, limited, reset_s }: About): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { "request-id": request_id };
  for (const what of ["requests", "tokens", "input-tokens", "output-tokens"]) {
    const most = what === "requests" ? MOST_REQUESTS : MOST_TOKENS;
    const left = what !== "requests" ? most : limited ? 0 : most - 1;
    headers[`anthropic-ratelimit-${what}-limit`] = String(most);
    headers[`anthropic-ratelimit-${what}-remaining`] = String(left);
    headers[`anthropic-ratelimit-${what}-reset`] = new Date(instant + reset_s * 1000).toISOString();
  }
  return headers;
}
