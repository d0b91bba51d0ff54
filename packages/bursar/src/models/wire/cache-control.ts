import type { JsonObject } from "../../core/chain/canonical.js";
import type { Intake } from "./intake.js";
import { isObject, objectOf } from "./json-object.js";
import { checkCase } from "./member-names.js";
import { isSaid } from "./request-fields.js";

/**
 * Notes what a block, a tool or a whole request says about writing to a cache. A lifetime nobody has heard of counts as the
 * longest one, which is the dearest.
 */
export function noteCacheControl(part: JsonObject, intake: Intake): void {
  const { cache_control, prompt_cache_breakpoint } = part;
  if (isSaid(prompt_cache_breakpoint)) intake.cache("5m");
  if (!isSaid(cache_control)) return;
  if (isObject(cache_control)) checkCase(cache_control, "cache_control");
  const { ttl = "5m" } = objectOf(cache_control);
  intake.cache(ttl === "5m" ? "5m" : "1h");
}
