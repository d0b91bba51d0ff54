/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/prompt/providers`: the providers of `bursar/prompt` over their own wires.

export { anthropicAdapter, anthropicProvider } from "./anthropic.js";
export type { ModelOptions } from "./model-options.js";
export { type OpenaiOptions, openaiAdapter, openaiProvider } from "./openai.js";
