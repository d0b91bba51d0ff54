import type { JsonObject } from "../../core/chain/canonical.js";
import { listOf, objectOf } from "../wire/json-object.js";
import type { ProtocolName } from "../wire/protocol.js";

/**
 * Whether an answer is all that was asked for. One that ended at a limit is, if the caller has set that limit: then everybody who
 * asks the same has set it. It is not if the caller's budget did, because others may have more.
 */
export function isWhole(protocol: ProtocolName, answer: JsonObject, limited: boolean): boolean {
  switch (protocol) {
    case "openai-chat":
      return !limited || listOf(answer.choices).every((choice) => objectOf(choice).finish_reason !== "length");
    case "openai-responses":
      return answer.status === "completed" || (answer.status === "incomplete" && !limited);
    case "anthropic-messages":
      return !limited || answer.stop_reason !== "max_tokens";
    case "openai-embeddings":
      return true;
  }
}
