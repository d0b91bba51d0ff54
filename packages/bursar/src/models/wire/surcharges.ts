import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { show } from "../../core/errors.js";
import { isSaid, nameOf, type Place } from "./request-fields.js";
import { UnboundedError } from "./unbounded-error.js";

/** Tiers at the price of the table, or below it: `flex` is cheaper, and `auto` is what the request means without the field. */
const TIERS: ReadonlySet<Json> = new Set(["auto", "default", "standard", "standard_only", "on_demand", "flex"]);

const SEARCH =
  "makes the provider search the web, which is charged by the search; leave it out, and search with a tool of your own";

/** Fields that are paid for on top of tokens, or at another price, each with what to do instead. */
const SURCHARGED: Readonly<Record<string, string>> = {
  web_search_options: SEARCH,
  search_parameters: SEARCH,
  enable_search: SEARCH,
  plugins: "names tools that the provider runs and charges for by itself; leave it out",
  prediction: "is charged where it does not match, and no limit of output covers that; leave it out",
};

/** Refuses what is known to change the price of a request, here or with one provider. */
export function refuseSurcharges(body: JsonObject, further: Readonly<Record<string, string>> = {}): void {
  refuseFields(body, SURCHARGED);
  refuseFields(body, further);
  const { service_tier: tier, speed } = body;
  if (isSaid(tier) && !TIERS.has(tier)) {
    throw new UnboundedError(
      "service_tier",
      `is ${show(tier)}, which has prices of its own; leave it out, or say "default"`,
    );
  }
  if (isSaid(speed) && speed !== "standard") {
    throw new UnboundedError("speed", `is ${show(speed)}, which has prices of its own; leave it out`);
  }
}

function refuseFields(body: JsonObject, fields: Readonly<Record<string, string>>): void {
  for (const field in fields) {
    const value = body[field];
    if (!isSaid(value)) continue;
    // Said as false, or as an empty list, it changes nothing.
    const idle = value === false || (Array.isArray(value) && value.length === 0);
    if (!idle) throw new UnboundedError(field, fields[field] as string);
  }
}

/** Why a tool that runs at the provider's is not passed on. */
export function hostedTool(place: Place, type: Json | undefined): UnboundedError {
  const why = "which the provider runs by itself: how often, and how much it reads, nobody can say beforehand";
  return new UnboundedError(
    nameOf(place),
    `is of type ${show(type)}, ${why}; leave it out, or offer a function of your own`,
  );
}
