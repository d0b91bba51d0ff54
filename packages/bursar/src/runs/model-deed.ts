import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Model } from "../ports/model.js";
import type { Deed } from "./deed.js";
import { RunError } from "./error.js";

/** What is done for a program that asks a model. */
export async function modelDeed(
  model: Model | null,
  { request = null, final = false, ...rest }: JsonObject,
): Promise<Deed> {
  if (model === null) throw new RunError("no_model", "no model is configured for this run");
  // Guests hand the request over as it is, agents inside of an object.
  const wanted: Json = request ?? rest;
  const named = typeof wanted === "object" && wanted !== null && "model" in wanted ? String(wanted.model) : null;
  const name = named ?? model.name ?? "default";
  return {
    ...{ kind: "call", capability_id: `llm:${name}`, call: "model", final: final === true },
    asked: await model.quote(wanted),
    make: ({ signal, key }) => model.call(wanted, { signal, key }),
  };
}
