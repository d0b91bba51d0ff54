/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/models`: models over the network, with what they cost.

export { type ChatModelOptions, chatModel } from "./chat.js";
export type { ModelPrice, ModelPrices } from "./price.js";
export { ProviderError, type ProviderFailure } from "./provider-error.js";
