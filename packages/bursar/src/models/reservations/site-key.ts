import type { Json, JsonObject } from "../../core/chain/canonical.js";
import type { WireRequest } from "../wire/protocol.js";

/** Prompts may have the day in them further down; what they begin with says who speaks. */
const MOST_PROMPT = 128;
const MOST_NAME = 100;
const MOST_TOOLS = 16;
/** No name has it, so that no two sites are written alike. */
const END = "\u0000";

/**
 * What calls from the same place in a program have in common: what the caller says, else the shape of the request. It is made with
 * every call, so it reads little, however long the request is, and writes it down in one go.
 */
export function siteKey(site: string | null, within: string, wire: WireRequest): string {
  const about = `${wire.model}${END}${within}${END}${wire.protocol}${END}`;
  if (site !== null) return `${about}site${END}${short(site)}`;
  return about + shapeOf(wire.body);
}

function shapeOf(body: JsonObject): string {
  const format = body.response_format ?? body.output_format ?? inside(body.text, "format");
  const effort = body.reasoning_effort ?? inside(body.reasoning, "effort") ?? inside(body.thinking, "type");
  const prompt = body.system ?? body.instructions ?? spokenFirst(body.messages ?? body.input);
  return promptOf(prompt) + END + toolsOf(body.tools) + END + nameOf(format) + END + short(effort);
}

/** The text that a conversation begins with, if it comes from whoever has written the program. */
function spokenFirst(messages: Json | undefined): Json | undefined {
  const first = Array.isArray(messages) ? messages[0] : undefined;
  const role = inside(first, "role");
  return role === "system" || role === "developer" ? inside(first, "content") : undefined;
}

function promptOf(prompt: Json | undefined): string {
  const text = Array.isArray(prompt) ? inside(prompt[0], "text") : prompt;
  return typeof text === "string" ? text.slice(0, MOST_PROMPT) : "";
}

function toolsOf(tools: Json | undefined): string {
  let names = "";
  if (!Array.isArray(tools)) return names;
  const count = Math.min(tools.length, MOST_TOOLS);
  for (let index = 0; index < count; index++) names += `${nameOf(tools[index])},`;
  return names;
}

/** The protocols keep the names of tools and formats at different depths. What has none is known by its type. */
function nameOf(value: Json | undefined): string {
  const own = inside(value, "name") ?? inside(inside(value, "function"), "name");
  return short(own ?? inside(inside(value, "json_schema"), "name") ?? inside(value, "type"));
}

function inside(value: Json | undefined, field: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as JsonObject)[field];
}

function short(value: Json | undefined): string {
  return typeof value === "string" ? value.slice(0, MOST_NAME) : "";
}
