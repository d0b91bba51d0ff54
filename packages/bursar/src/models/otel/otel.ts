/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/otel`: spans and metrics of governed calls for OpenTelemetry.

export { type ObserveOptions, observe, observePrompts } from "./observe.js";
export type { PromptCall } from "./prompt-call.js";
