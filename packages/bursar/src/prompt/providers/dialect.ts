import type { JsonObject } from "../../core/chain/canonical.js";
import type { Protocol } from "../../models/wire/protocol.js";
import type { Ending, PromptMessage, ToolCall } from "../message.js";
import type { ToolDefinition } from "../tool.js";

/** What a model is told: the conversation, and how its own turns stood on the wire. */
export interface Conversation {
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolDefinition[];
  /** The turns of the model in this evaluation, by their place in the messages: what it has sealed goes back as it came. */
  readonly turns: ReadonlyMap<number, Turn>;
}

/** What is sent back in place of a message of the model's. */
export type Turn = readonly JsonObject[];

/** What a model answers. */
export interface Answer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly ending: Ending;
  readonly turn: Turn;
}

/** Puts the events of a stream together. */
export interface Assembly {
  /** Takes one event. */
  read(event: string, data: JsonObject): void;
  /** The answer as if it had come in one piece, once it is over. */
  readonly body: JsonObject | null;
}

/** One provider's way to write conversations and answers. How much they use is the protocol's to say. */
export interface Dialect {
  readonly protocol: Protocol;
  /** The fields of a body that only we write. */
  readonly fields: readonly string[];
  /** The address that requests go to, from the one that was given as a base. */
  path(base: string): string;
  headers(apiKey: string | null): Readonly<Record<string, string>>;
  /** The body without model, parameters and limit. */
  write(conversation: Conversation, about: { readonly model: string }): JsonObject;
  /** Null when it is no answer. */
  read(body: JsonObject): Answer | null;
  /** For the events of one answer. */
  assembly(): Assembly;
}
