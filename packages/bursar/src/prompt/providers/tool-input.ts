import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { isObject } from "../../models/wire/json-object.js";
import type { ToolDefinition } from "../tool.js";

/** A tool without a schema takes any object: providers want to be told at least that. */
const ANY_OBJECT: JsonObject = { type: "object", properties: {} };

/** The schema of a tool's input as it goes over the wire. */
export function schemaOf({ name, inputSchema }: ToolDefinition): JsonObject {
  if (inputSchema === undefined || inputSchema === null) return ANY_OBJECT;
  if (isObject(inputSchema as Json)) return inputSchema as JsonObject;
  throw new InputError(`tool ${name}: inputSchema`, `is ${show(inputSchema)}; allowed: a JSON Schema as an object`);
}

/** What a model wrote as the input of a tool. What is no JSON is handed on as it is: the tool checks it before use. */
export function inputIn(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The input of a tool as a text, in a conversation that was not held here. */
export function inputText(input: unknown): string {
  return JSON.stringify(input ?? {}) ?? "{}";
}
