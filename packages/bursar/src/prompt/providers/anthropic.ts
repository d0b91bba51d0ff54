import { type Adapter, createAdapter } from "../adapter.js";
import type { Provider } from "../provider.js";
import type { AdapterOptions } from "../settings.js";
import { MESSAGES_DIALECT } from "./anthropic-messages.js";
import { type ModelOptions, partedOptions, readModelOptions } from "./model-options.js";
import { WireProvider } from "./wire-provider.js";

const HOME = "https://api.anthropic.com";

/**
 * A model of Anthropic's, or of any server that speaks like it.
 *
 * @example
 * ```ts
 * const provider = anthropicProvider({ model: "claude-sonnet-5", apiKey });
 * const { text } = await evaluate(provider, { name: "greeting", text: "Say hello." }, { budget });
 * ```
 */
export function anthropicProvider(options: ModelOptions): Provider {
  return new WireProvider(readModelOptions(options, MESSAGES_DIALECT, HOME));
}

/**
 * Makes prompts evaluable with a model of Anthropic's.
 *
 * @example
 * ```ts
 * const adapter = anthropicAdapter({
 *   model: "claude-sonnet-5",
 *   apiKey,
 *   maxOutputTokens: 8_192,
 *   parameters: { thinking: { type: "enabled", budget_tokens: 4_096 } },
 * });
 * const { text } = await adapter.evaluate({ name: "greeting", text: "Say hello." }, { budget });
 * ```
 */
export function anthropicAdapter(options: ModelOptions & AdapterOptions): Adapter {
  const { model, evaluation } = partedOptions(options);
  return createAdapter(anthropicProvider(model), evaluation);
}
