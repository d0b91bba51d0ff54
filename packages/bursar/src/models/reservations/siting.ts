import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";

/** What a caller may say about where a call comes from, and how it is held. */
export interface Siting {
  /** The place in the program that the call comes from, by any name; known by the shape of its request, unless it is said. */
  readonly site?: string;
  /** Whether as much is held as its answer may have at most, however scarce that is, so that it is not cut for others' sake. */
  readonly full?: boolean;
}

export const SITE_HEADER = "x-bursar-site";
export const FULL_HEADER = "x-bursar-full";

/** What headers say about it. */
export function sited(site: unknown, full: unknown): Siting {
  const isSited = typeof site === "string" && site !== "";
  if (!isSited && full !== "true") return NOTHING_SAID;
  return { ...(isSited && { site }), ...(full === "true" && { full: true }) };
}

/** Takes what is not for the provider out of the headers of a request. */
export function takeSiting(headers: Headers): Siting {
  const [site, full] = [headers.get(SITE_HEADER), headers.get(FULL_HEADER)];
  if (site === null && full === null) return NOTHING_SAID;
  headers.delete(SITE_HEADER);
  headers.delete(FULL_HEADER);
  return sited(site, full);
}

const NOTHING_SAID: Siting = Object.freeze({});

/** Looks at what came from outside. */
export function checkSiting({ site, full }: Siting, within = ""): void {
  if (site !== undefined && (typeof site !== "string" || site === "")) {
    throw new InputError(`${within}site`, `is ${show(site)}; allowed: a name for where calls come from`);
  }
  if (full !== undefined && typeof full !== "boolean") {
    throw new InputError(`${within}full`, `is ${show(full)}; allowed: true or false`);
  }
}

const FIELD = "request.bursar";

/** Takes what is not for the provider out of a request of a run: `bursar: { site: "summaries", full: true }`. */
export function sitingIn(request: Json): { readonly siting: Siting; readonly request: Json } {
  if (typeof request !== "object" || request === null || !("bursar" in request)) {
    return { siting: NOTHING_SAID, request };
  }
  const { bursar, ...rest } = request as JsonObject;
  if (typeof bursar !== "object" || bursar === null || Array.isArray(bursar)) {
    throw new InputError(FIELD, `is ${show(bursar)}; allowed: an object such as { site: "summaries" }`);
  }
  // One model is one tier: calls that are to stay together do.
  checkKeys(bursar, FIELD, ["site", "full", "step"]);
  const { step: _, ...siting } = bursar as Siting & { readonly step?: unknown };
  checkSiting(siting, `${FIELD}.`);
  return { siting, request: rest };
}
