import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { InputError, show } from "../../core/errors.js";
import { isObject, listOf } from "./json-object.js";
import type { WireRequest } from "./protocol.js";
import { isSaid, nameOf, type Place } from "./request-fields.js";
import type { ToolUses } from "./token-counts.js";
import { UnboundedError } from "./unbounded-error.js";

/** A tool that the provider runs, and that is paid for by the use. */
export type HostedToolKind = keyof ToolUses;

/**
 * What one use costs beside its tokens, in billionths of a dollar: the list prices of OpenAI
 * (developers.openai.com/api/docs/pricing) and Anthropic (platform.claude.com/docs/en/about-claude/pricing) of 2026-11-05. Web searches
 * are 10 dollars for a thousand at both, file searches 2.50 dollars at OpenAI, and fetches cost nothing but their tokens.
 */
const HOSTED_TOOL_NANO: Readonly<Record<HostedToolKind, bigint>> = {
  web_search: 10_000_000n,
  file_search: 2_500_000n,
  web_fetch: 0n,
};

/** The hosted tools of a request. What they bring in is input in each of the rounds that the model takes. */
export interface HostedTools {
  /** The most uses of all of them together; null where the request leaves it open. */
  readonly uses: number | null;
  /** What so many uses cost at most, in billionths of a dollar; 0 where it is open. */
  readonly most_nano: bigint;
  /** The same request with every tool held to so many uses. */
  capped(uses: number): WireRequest;
}

/** So many uses a request may have that leaves it open. The meter lets it have fewer where the budget does not pay for them. */
export const MOST_OPEN_USES = 5;

/** More uses than any provider takes; it keeps every product a whole number. */
const MOST_USES = 1_000;

/** Providers whose servers have tools of their own, at other prices or without a cap, though they speak these protocols. */
const OTHER_VENDORS =
  /(?:^|\.)(?:x\.ai|groq\.com|openrouter\.ai|googleapis\.com|mistral\.ai|perplexity\.ai|deepseek\.com|aliyuncs\.com|moonshot\.(?:ai|cn)|z\.ai|bigmodel\.cn|together\.(?:ai|xyz)|fireworks\.ai|cohere\.(?:ai|com)|vercel\.sh|cloudflare\.com|huggingface\.co|amazonaws\.com|minimax\.io|azure\.(?:com|us|cn)|azure-api\.net)\.?$/i;

/** Whether the hosted tools of a protocol's own provider can be what a server runs. */
export function mayHost(hostname: string): boolean {
  return !OTHER_VENDORS.test(hostname);
}

const OPENAI_KINDS: ReadonlyMap<Json | undefined, HostedToolKind> = new Map<Json, HostedToolKind>([
  ["web_search", "web_search"],
  ["web_search_2025_08_26", "web_search"],
  ["file_search", "file_search"],
]);

/** The kind of one of OpenAI's tools; null where it cannot be capped and priced. */
export function openaiToolKind(type: Json | undefined): HostedToolKind | null {
  return OPENAI_KINDS.get(type) ?? null;
}

/** Members by which servers are told of tools of their own, in place of a type or beside one, whatever their case and their dashes. */
const HOSTED_MEMBERS: ReadonlySet<string> = new Set([
  "googlesearch",
  "googlesearchretrieval",
  "googlemaps",
  "urlcontext",
  "codeexecution",
  "codeinterpreter",

  "enterprisewebsearch",
  "websearch",
  "filesearch",
  "computeruse",
  "retrieval",
  "browsersearch",
  "xsearch",
  "livesearch",
  "mcp",
  "mcpservers",
  "serverurl",
  "connectorid",
]);
const DASHES = /[-_]/g;

/** The member of a caller's own tool that makes it one that the provider runs; null where it has none. */
export function hostedMember(tool: JsonObject): string | null {
  for (const name in tool) {
    if (HOSTED_MEMBERS.has(name.toLowerCase().replace(DASHES, "")) && isSaid(tool[name])) return name;
  }
  return null;
}

/** From here on the provider's own code calls its tools, as often as it likes, unless the request says that only the model does. */
const CALLED_BY_CODE = 20_260_000;
const DATED = /^(web_search|web_fetch)_(\d{8})$/;

/** The kind of one of Anthropic's tools; null where it cannot be capped and priced. */
export function anthropicToolKind(tool: JsonObject, place: Place): HostedToolKind | null {
  const [, kind] = DATED.exec(String(tool.type)) ?? [];
  if (kind !== "web_search" && kind !== "web_fetch") return null;
  const callers = listOf(tool.allowed_callers);
  if (callers.every((caller) => caller === "direct")) return kind;
  throw new UnboundedError(
    `${nameOf(place)}.allowed_callers`,
    'lets code of the provider\'s use the tool, which no max_uses bounds in rounds; say ["direct"]',
  );
}

/** How often a tool may be used, as the request says; null where it says nothing. */
export function usesIn(value: Json | undefined, place: Place): number | null {
  if (!isSaid(value)) return null;
  if (isCount(value) && value <= MOST_USES) return value;
  throw new InputError(nameOf(place), `is ${show(value)}; allowed: a whole number of uses from 0 to ${MOST_USES}`);
}

/** The most that tools cost whose uses are held one by one. */
export function costOfUses(uses: ToolUses): bigint {
  let nano = 0n;
  for (const kind of Object.keys(uses) as HostedToolKind[]) {
    nano += BigInt(uses[kind] ?? 0) * (HOSTED_TOOL_NANO[kind] ?? 0n);
  }
  return nano;
}

/** The tools of an Anthropic request, each held to so many uses. */
export function cappedTools(tools: Json | undefined, uses: number): readonly Json[] {
  return listOf(tools).map((tool) => {
    if (!isObject(tool)) return tool;
    const [, , date] = DATED.exec(String(tool.type)) ?? [];
    if (date === undefined) return tool;
    const max_uses = isCount(tool.max_uses) ? Math.min(tool.max_uses, uses) : uses;
    const isOpen = Number(date) >= CALLED_BY_CODE && !isSaid(tool.allowed_callers);
    return { ...tool, max_uses, ...(isOpen && { allowed_callers: ["direct"] }) };
  });
}

/** Counts of uses without those that are 0; undefined where there are none. */
export function someUses(uses: ToolUses): ToolUses | undefined {
  const said = Object.entries(uses).filter(([, count]) => count > 0);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}
