/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/testing`: what our own tests use, so that users can test as we do.

export { FakeClock } from "./clock/fake-clock.js";
export { describeStore, type TestRunner } from "./describe-store.js";
export type { OpenStore } from "./kit/scene.js";
export type {
  ScriptedAnswer,
  ScriptedEmbedding,
  ScriptedGarbage,
  ScriptedHalf,
  ScriptedHang,
  ScriptedStatus,
  ScriptedText,
  ScriptedToolCall,
} from "./scripted/answer.js";
export type { BatchLine, BatchResult, BatchState, ScriptedBatch } from "./scripted/batch.js";
export type { BatchFault, BatchQuestion, ScriptedBatching } from "./scripted/batching.js";
export type { ScriptedProtocol, ScriptedRequest } from "./scripted/request.js";
export type { ScriptedRawUsage, ScriptedUsage } from "./scripted/usage.js";
export { openScriptedModel, type Script, ScriptedModel, type ScriptedModelOptions } from "./scripted-model.js";
