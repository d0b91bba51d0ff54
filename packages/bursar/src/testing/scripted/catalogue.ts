import type { JsonObject } from "../../core/chain/canonical.js";
import type { Provider } from "./wire.js";

/** The models there are, as a provider lists them. */
export function listOf(models: readonly string[], provider: Provider): JsonObject {
  const data = models.map((id) => modelOf(id, provider));
  if (provider === "openai") return { object: "list", data, scripted: true };
  return { data, has_more: false, first_id: models.at(0) ?? null, last_id: models.at(-1) ?? null, scripted: true };
}

/** One model. */
export function modelOf(id: string, provider: Provider): JsonObject {
  if (provider === "openai") return { id, object: "model", created: 0, owned_by: "bursar-scripted" };
  return { id, type: "model", display_name: id, created_at: "1970-01-01T00:00:00Z" };
}
