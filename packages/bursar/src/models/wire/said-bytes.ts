import { Buffer } from "node:buffer";
import type { Json, JsonObject } from "../../core/chain/canonical.js";

/** What is not said by the model but written around it: marks, names of things, and seals. */
const AROUND: ReadonlySet<string> = new Set([
  "type",
  "role",
  "id",
  "index",
  "object",
  "status",
  "call_id",
  "item_id",
  "signature",
  "obfuscation",
  "encrypted_content",
  "expires_at",
  "stop_reason",
  "format",
  "logprobs",
]);

/**
 * How many bytes a model has said in a piece of an answer. Fields nobody has heard of count too: a provider that shows its
 * thinking in a new field is paid for it all the same.
 */
export function saidBytes(piece: Json | undefined): number {
  let bytes = 0;
  const open: (Json | undefined)[] = [piece];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") bytes += Buffer.byteLength(value);
    else if (Array.isArray(value)) for (const item of value) open.push(item);
    else if (typeof value === "object" && value !== null) {
      for (const key in value) if (!AROUND.has(key)) open.push((value as JsonObject)[key]);
    }
  }
  return bytes;
}
