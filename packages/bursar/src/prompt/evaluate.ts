import { createAdapter, type EvaluateOptions } from "./adapter.js";
import type { PromptResponse } from "./prompt-response.js";
import type { Provider } from "./provider.js";
import type { RenderedPrompt } from "./rendered-prompt.js";
import type { AdapterOptions } from "./settings.js";

/**
 * Evaluates one prompt: `createAdapter` and `evaluate` in one call.
 *
 * @example
 * ```ts
 * const budget = new Budget({ deadline: new Deadline(Date.now() + 30_000) });
 * const { text, usage } = await evaluate(provider, { name: "greeting", text: "Say hello." }, { budget });
 * ```
 */
export async function evaluate(
  provider: Provider,
  prompt: RenderedPrompt,
  options: EvaluateOptions & AdapterOptions = {},
): Promise<PromptResponse> {
  const { budget, signal, ...settings } = options;
  return createAdapter(provider, settings).evaluate(prompt, {
    ...(budget !== undefined && { budget }),
    ...(signal !== undefined && { signal }),
  });
}
