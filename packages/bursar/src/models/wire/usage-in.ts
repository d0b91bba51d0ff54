import { parsedObject } from "./json-object.js";
import { memberIn } from "./member-in.js";
import type { Protocol } from "./protocol.js";
import type { TokenCounts } from "./token-counts.js";

/**
 * What the text of a whole answer says was used; null when it says nothing that can be counted. Of most protocols that is one member,
 * and beside it there may be a million numbers that nobody here wants.
 */
export function usageIn(protocol: Protocol, text: string): TokenCounts | null {
  const { readsAllWith: word } = protocol;
  const isAll = protocol.readsAll || (word !== undefined && text.includes(word));
  const usage = isAll ? undefined : memberIn(text, "usage");
  return protocol.usage(usage === undefined ? (parsedObject(text) ?? {}) : { usage });
}
