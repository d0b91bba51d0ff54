/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/testing`: what our own tests use, so that users can test as we do.

export { describeStore, type TestRunner } from "./describe-store.js";
export { FakeClock } from "./fake-clock.js";
export type { OpenStore } from "./kit/scene.js";
export { openScriptedModel, type Script, ScriptedModel, type ScriptedModelOptions } from "./scripted-model.js";
export type {
  ScriptedAnswer,
  ScriptedGarbage,
  ScriptedHalf,
  ScriptedHang,
  ScriptedStatus,
  ScriptedText,
  ScriptedToolCall,
  ScriptedUsage,
} from "./scripted-model-answer.js";
export type { ScriptedRequest } from "./scripted-model-wire.js";
