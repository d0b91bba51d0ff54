import type { JsonObject } from "../../core/chain/canonical.js";
import { InputError } from "../../core/errors.js";

/** The members below the top that readers look at. */
const READ_BELOW: ReadonlySet<string> = new Set([
  "role",
  "content",
  "type",
  "text",
  "refusal",
  "audio",
  "tool_calls",
  "function",
  "custom",
  "arguments",
  "input",
  "image_url",
  "url",
  "detail",
  "file",
  "input_audio",
  "data",
  "source",
  "media_type",
  "tools",
  "tool",
  "name",
  "output",
  "encrypted_content",
  "summary",
  "id",
  "definition",
  "tool_changes",
  "cache_control",
  "ttl",
  "edits",
  "execution",
  "environment",
  "max_uses",
  "allowed_callers",
  "include_usage",
  "effort",
  "budget_tokens",
  "max_tokens",
  "file_id",
  "file_url",
  "file_data",
  "image",
  "container",
  "server_url",
  "connector_id",
  "generate_summary",
  "display",
  "format",
  "mode",
  "schema",
  "parameters",
  "description",
  "input_schema",
]);

/** Refuses a member of an object below the top whose name differs from one that readers look at by its case alone. */
export function checkCase(object: JsonObject, place: string | (() => string)): void {
  for (const name in object) {
    if (READ_BELOW.has(name)) continue;
    const meant = meantBy(name, READ_BELOW);
    if (meant !== null) throw otherCase(`${typeof place === "string" ? place : place()}.${name}`, meant);
  }
}

/** Names are the same in every request, and to fold one takes longer than to look it up. */
const MOST_FOLDED = 1_000;
const LONGEST_FOLDED = 64;
const folded = new Map<string, string>();

/** The known name that a name differs from by its case alone; null where there is none. */
export function meantBy(name: string, known: ReadonlySet<string>): string | null {
  if (name.length > LONGEST_FOLDED) return null;
  const fold = folded.get(name) ?? foldCase(name);
  return fold !== name && known.has(fold) ? fold : null;
}

/** Upper case first: that is how a long s becomes an s, which servers in Go take it for. */
function foldCase(name: string): string {
  const fold = name.toUpperCase().toLowerCase();
  if (folded.size >= MOST_FOLDED) folded.clear();
  folded.set(name, fold);
  return fold;
}

export function otherCase(name: string, meant: string): InputError {
  const why = "some servers read it as that, and others do not";
  return new InputError(name, `differs from ${meant} only by the case of its letters; ${why}; write ${meant}`);
}
