import type { Json, JsonObject } from "../core/chain/canonical.js";
import { modelNamed, type TierList } from "../models/tiers/tier-list.js";
import { listOf, parsedObject } from "../models/wire/json-object.js";
import type { Home } from "./upstream.js";

/** A list of a provider's models with the lists of tiers behind them, in the form in which the provider lists its own. */
export function withTierModels(body: Buffer, lists: readonly TierList[], home: Home): Buffer {
  if (lists.length === 0) return body;
  const answer = parsedObject(body.toString("utf8"));
  // Providers that list many do so page by page; what is ours comes at the end.
  if (answer === null || !Array.isArray(answer.data) || answer.has_more === true) return body;
  const data: readonly Json[] = [...listOf(answer.data), ...lists.map((list) => tierModel(list, home))];
  return Buffer.from(JSON.stringify({ ...answer, data }));
}

/** Whether a path asks for one list of tiers: `/models/bursar/auto`. */
export function tierModelAt(pathname: string, lists: readonly TierList[], home: Home): JsonObject | null {
  const list = lists.find((each) => pathname.endsWith(`/models/${modelNamed(each)}`));
  return list === undefined ? null : tierModel(list, home);
}

function tierModel(list: TierList, home: Home): JsonObject {
  const id = modelNamed(list);
  const tiers = list.tiers.map(({ name, model }) => ({ name, model }));
  if (home === "anthropic")
    return { type: "model", id, display_name: id, created_at: new Date(0).toISOString(), tiers };
  return { id, object: "model", created: 0, owned_by: "bursar", tiers };
}
