import type { JsonObject } from "../../core/chain/canonical.js";
import { RunError } from "../../runs/error.js";

/** What became of a request that gave no answer. */
export type ProviderFailure =
  /** The provider said no: the request, the key or the rate is not to its liking. Nothing was computed. */
  | "provider_refused"
  /** It could not be reached, so that nothing was sent. */
  | "provider_unreachable"
  /** It failed, or the connection did, after the request was on its way. */
  | "provider_failed"
  /** It took longer than it was given. */
  | "provider_timeout"
  /** It answered with something that is no answer. */
  | "provider_answer";

const NOTHING: JsonObject = { llm_input_tokens: 0, llm_output_tokens: 0, llm_tokens: 0, cost_usd: 0 };
const FREE: ReadonlySet<ProviderFailure> = new Set(["provider_refused", "provider_unreachable"]);

/** A provider gave no answer. It carries the status of HTTP where there was one, and never a key. */
export class ProviderError extends RunError {
  override readonly name: string = "ProviderError";
  readonly status: number | null;
  /** Nothing, where it is certain that nothing was used; else it is not known, and the reservation is charged. */
  readonly usage: JsonObject | null;

  /** `sent` is how many bytes the request had, where it was sent; they are charged whatever the provider made of them. */
  constructor(code: ProviderFailure, message: string, data: JsonObject = {}, options?: ErrorOptions, sent = 0) {
    super(code, message, data, options);
    this.status = typeof data.status === "number" ? data.status : null;
    this.usage = FREE.has(code) ? { ...NOTHING, network_egress_bytes: sent } : null;
  }
}
