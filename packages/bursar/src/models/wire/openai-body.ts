import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { show } from "../../core/errors.js";
import { noteCacheControl } from "./cache-control.js";
import type { Intake } from "./intake.js";
import type { OpenaiModel } from "./openai-models.js";
import { isSaid } from "./request-fields.js";
import { refuseSurcharges } from "./surcharges.js";
import { UnboundedError } from "./unbounded-error.js";

/** Providers write something around tools that the request does not show. */
export const AROUND_TOOLS = 1024;

/** How OpenRouter's models are told to search the web. */
const ONLINE = /:online(?::|$)/i;

/** Refuses what Chat Completions and Responses would both be paid for on top of tokens. */
export function refuseOpenaiSurcharges(body: JsonObject, model: string, about: OpenaiModel): void {
  refuseSurcharges(body);
  if (!about.searches && !ONLINE.test(model)) return;
  throw new UnboundedError("model", `is ${show(model)}, which searches the web by itself; use a model that does not`);
}

/** OpenAI's newer models write to a cache by themselves, for a price; of its models that we do not know, we expect it. */
export function noteOpenaiCaching(body: JsonObject, about: OpenaiModel, compatible: boolean, intake: Intake): void {
  if (about.cacheCharged ?? !compatible) intake.cache("5m");
  if (isSaid(body.prompt_cache_options) || isSaid(body.prompt_cache_retention)) intake.cache("5m");
  noteCacheControl(body, intake);
}

/**
 * Which tier the provider's own server is told. What it takes where none is said is a setting of the project's, and may be one
 * that costs twice as much; other servers may not know the field.
 */
export function tierFor(body: JsonObject, compatible: boolean): { readonly service_tier?: Json } {
  const open = !isSaid(body.service_tier) || body.service_tier === "auto";
  return open && !compatible ? { service_tier: "default" } : {};
}
