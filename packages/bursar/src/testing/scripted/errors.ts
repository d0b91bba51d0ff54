import type { JsonObject } from "../../core/chain/canonical.js";
import type { Provider } from "./wire.js";

/** What went wrong, before any provider has written it. */
export interface Failure {
  readonly status: number;
  readonly message: string;
  /** The provider's name for it; the usual one for the status unless it is said. */
  readonly type?: string | undefined;
  /** OpenAI's second name for it. */
  readonly code?: string | undefined;
  /** The field that is to blame. */
  readonly param?: string | undefined;
}

const ANTHROPIC: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** OpenAI names what is used up by it. */
const OPENAI: Readonly<Record<number, { readonly type: string; readonly code: string }>> = {
  401: { type: "invalid_request_error", code: "invalid_api_key" },
  429: { type: "requests", code: "rate_limit_exceeded" },
};

/** An error as the provider writes it. */
export function errorBody(provider: Provider, failure: Failure, request_id: string): JsonObject {
  const { status, message, param = null } = failure;
  if (provider === "anthropic") {
    const usual = ANTHROPIC[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
    return { type: "error", error: { type: failure.type ?? usual, message }, request_id };
  }
  const usual = OPENAI[status] ?? { type: status >= 500 ? "server_error" : "invalid_request_error", code: null };
  const { type, code } = { type: failure.type ?? usual.type, code: failure.code ?? usual.code };
  return { error: { message, type, param, code } };
}
