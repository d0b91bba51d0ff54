import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isClientTool as isAnthropicClientTool } from "./anthropic-blocks.js";
import { hostedMember } from "./hosted-tools.js";
import { isObject, listOf, objectOf } from "./json-object.js";
import { isClientTool as isOpenaiClientTool } from "./openai-responses-input.js";
import type { ProtocolName } from "./protocol.js";

/** Members that make the provider use tools of its own. */
const MEMBERS = ["web_search_options", "search_parameters", "enable_search", "plugins", "mcp_servers"];
/** Members that providers take beside tools alone. */
const BESIDE_TOOLS = ["tool_choice", "function_call", "parallel_tool_calls", "max_tool_calls"];

/** Where a body has its tools: the older member stands beside the newer one, and has functions alone. */
const LISTS = ["tools", "functions"] as const;

/** The body without the tools that the provider runs. The same body where it has none. */
export function stripHostedTools(body: JsonObject, protocol: ProtocolName): JsonObject {
  const stripped = new Map<string, readonly Json[]>();
  const left: Json[] = [];
  for (const name of LISTS) {
    const tools = listOf(body[name]);
    const own = name === "tools" ? ownTools(tools, protocol) : tools.filter(isOwnFunction);
    left.push(...own);
    if (own.length !== tools.length || own.some((tool, index) => tool !== tools[index])) stripped.set(name, own);
  }
  if (stripped.size === 0 && !MEMBERS.some((name) => name in body)) return body;
  const sent: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    if (MEMBERS.includes(name)) continue;
    const own = stripped.get(name);
    if (own !== undefined) {
      if (own.length > 0) sent[name] = own;
    } else if (stripped.size === 0 || !BESIDE_TOOLS.includes(name) || isKept(name, value, left)) sent[name] = value;
  }
  return sent;
}

/** What is no object is left to the reader, which refuses it. */
function isOwnFunction(tool: Json): boolean {
  if (!isObject(tool)) return true;
  const { type = "function" } = tool;
  return type === "function" && hostedMember(tool) === null;
}

/** Without tools nothing beside them is sent, nor a choice that names one that is gone. */
function isKept(name: string, value: Json, own: readonly Json[]): boolean {
  if (own.length === 0) return false;
  return (name !== "tool_choice" && name !== "function_call") || !isObject(value) || isOwnChoice(value, own);
}

function ownTools(tools: readonly Json[], protocol: ProtocolName): readonly Json[] {
  const own: Json[] = [];
  for (const tool of tools) {
    const kept = isObject(tool) ? ownTool(tool, protocol) : tool;
    if (kept !== null) own.push(kept);
  }
  return own;
}

/** A tool without what the provider runs of it; null where nothing is left. */
function ownTool(tool: JsonObject, protocol: ProtocolName): JsonObject | null {
  if (protocol === "openai-responses" && tool.type === "namespace" && Array.isArray(tool.tools)) {
    const all = tool.tools as readonly Json[];
    const own = ownTools(all, protocol);
    if (own.every((each, index) => each === all[index]) && own.length === all.length) return tool;
    return own.length === 0 ? null : { ...tool, tools: own };
  }
  return isRunByCaller(tool, protocol) && hostedMember(tool) === null ? tool : null;
}

function isRunByCaller(tool: JsonObject, protocol: ProtocolName): boolean {
  if (protocol === "anthropic-messages") return isAnthropicClientTool(tool);
  if (protocol === "openai-responses") return isOpenaiClientTool(tool);
  const { type = isObject(tool.function) ? "function" : null } = tool;
  return type === "function" || type === "custom";
}

/** Whether the tool that is to be used is still there. */
function isOwnChoice(choice: JsonObject, own: readonly Json[]): boolean {
  const name = choice.name ?? objectOf(choice.function).name ?? objectOf(choice.custom).name;
  if (name === undefined) return choice.type === "auto" || choice.type === "any" || choice.type === "none";
  return own.some((tool) => objectOf(tool).name === name || objectOf(objectOf(tool).function).name === name);
}
