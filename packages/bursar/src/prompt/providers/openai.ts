import { InputError, show } from "../../core/errors.js";
import { type Adapter, createAdapter } from "../adapter.js";
import type { Provider } from "../provider.js";
import type { AdapterOptions } from "../settings.js";
import type { Dialect } from "./dialect.js";
import { type ModelOptions, partedOptions, readModelOptions } from "./model-options.js";
import { CHAT_DIALECT } from "./openai-chat.js";
import { RESPONSES_DIALECT } from "./openai-responses.js";
import { WireProvider } from "./wire-provider.js";

export interface OpenaiOptions extends ModelOptions {
  /** Which of the two interfaces is spoken: `chat`, which most other servers know too, or `responses`. */
  readonly api?: "chat" | "responses";
}

const HOME = "https://api.openai.com/v1";
const DIALECTS: ReadonlyMap<unknown, Dialect> = new Map<unknown, Dialect>([
  ["chat", CHAT_DIALECT],
  ["responses", RESPONSES_DIALECT],
]);

/**
 * A model of OpenAI's, or of any server that speaks like it.
 *
 * @example
 * ```ts
 * const provider = openaiProvider({ model: "llama3.2", url: "http://localhost:11434/v1" });
 * const { text } = await evaluate(provider, { name: "greeting", text: "Say hello." }, { budget });
 * ```
 */
export function openaiProvider(options: OpenaiOptions): Provider {
  const { api = "chat", ...rest } = options ?? {};
  const dialect = DIALECTS.get(api);
  if (dialect === undefined) {
    throw new InputError("options.api", `is ${show(api)}; allowed: ${[...DIALECTS.keys()].join(", ")}`);
  }
  return new WireProvider(readModelOptions(rest, dialect, HOME));
}

/**
 * Makes prompts evaluable with a model of OpenAI's.
 *
 * @example
 * ```ts
 * const adapter = openaiAdapter({ model: "gpt-5", apiKey, api: "responses" });
 * const budget = new Budget({ tokenLimit: { input: 10_000, output: 2_000 } });
 * const { text } = await adapter.evaluate({ name: "greeting", text: "Say hello." }, { budget });
 * ```
 */
export function openaiAdapter(options: OpenaiOptions & AdapterOptions): Adapter {
  const { model, evaluation } = partedOptions<OpenaiOptions>(options);
  return createAdapter(openaiProvider(model), evaluation);
}
