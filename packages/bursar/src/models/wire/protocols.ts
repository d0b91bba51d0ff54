import { remember } from "../../core/chain/remember.js";
import { ANTHROPIC_MESSAGES } from "./anthropic-messages.js";
import { OPENAI_CHAT } from "./openai-chat.js";
import { OPENAI_EMBEDDINGS } from "./openai-embeddings.js";
import { OPENAI_RESPONSES } from "./openai-responses.js";
import { segmentsOf } from "./path-segments.js";
import type { Protocol } from "./protocol.js";

/** The endings of the paths, in the order of their segments. */
const ENDINGS: readonly (readonly [path: readonly string[], protocol: Protocol])[] = [
  [["chat", "completions"], OPENAI_CHAT],
  [["responses"], OPENAI_RESPONSES],
  [["embeddings"], OPENAI_EMBEDDINGS],
  [["messages"], ANTHROPIC_MESSAGES],
];

/** The protocol that a request to this path speaks; null for every other path. */
export function protocolFor(method: string, pathname: string): Protocol | null {
  return method === "POST" || method.toUpperCase() === "POST" ? known(pathname) : null;
}

/** A program asks for few paths, and to take one apart takes longer than to read a short request. */
const known = remember(protocolAt);

/**
 * The protocol that is spoken at this path, whatever base stands before it; null for every other path, also below the
 * known ones: what is kept under `/responses/abc` or `/messages/batches` is something else.
 */
function protocolAt(pathname: string): Protocol | null {
  // Some servers do not mind the case.
  const segments = segmentsOf(pathname.toLowerCase());
  for (const [path, protocol] of ENDINGS) {
    const start = segments.length - path.length;
    if (start >= 0 && path.every((segment, index) => segments[start + index] === segment)) {
      // A message put into a thread of OpenAI's assistants asks no model.
      return path[0] === "messages" && segments[start - 2] === "threads" ? null : protocol;
    }
  }
  return null;
}
