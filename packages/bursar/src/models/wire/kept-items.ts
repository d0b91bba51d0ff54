import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { listOf, objectOf } from "./json-object.js";
import type { TokenCounts } from "./token-counts.js";

/** Longer loops than this forget how they began; then the model's window bounds what they refer to. */
const MOST = 10_000;
const FOUND: ReadonlySet<Json | undefined> = new Set(["web_search_call", "file_search_call"]);
const LONGEST_NAME = 256;

/**
 * How many tokens something has at most that a provider keeps, by the name under which it does. Loops over the Responses API refer
 * to what was said and thought before by its name, and pay for it as input; whoever has seen it come by knows how much that can be.
 */
const kept = new Map<string, number>();

export function keepItem(name: unknown, tokens: number): void {
  if (typeof name !== "string" || name.length > LONGEST_NAME || !isCount(tokens)) return;
  kept.delete(name);
  kept.set(name, tokens);
  const [oldest] = kept.keys();
  if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
}

/** The most tokens of what is kept under this name; null when nobody here has seen it. */
export function keptTokens(name: unknown): number | null {
  return typeof name === "string" ? (kept.get(name) ?? null) : null;
}

/** Remembers a response and its parts: each part came with all of its output, and whoever goes on from it takes in all of it. */
export function keepResponse(response: JsonObject, counts: TokenCounts | null): void {
  if (counts === null) return;
  keepItem(response.id, counts.input + counts.output);
  for (const item of listOf(response.output)) {
    const { id, type } = objectOf(item);
    // What a tool of the provider's has found may be longer than all that was said.
    if (!FOUND.has(type)) keepItem(id, counts.output);
  }
}
