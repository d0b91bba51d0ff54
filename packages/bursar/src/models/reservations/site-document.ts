import type { Json, JsonObject } from "../../core/chain/canonical.js";
import type { Document } from "../../core/document.js";
import type { PutOperation } from "../../core/operation.js";
import { listOf, objectOf } from "../wire/json-object.js";
import { REMEMBERED } from "./outputs.js";
import type { Site } from "./site.js";

/** What is kept of a site over restarts. */
interface Kept {
  readonly id: string;
  readonly model: string;
  /** When it was last written, so that the oldest go first. */
  readonly instant: number;
  readonly outputs: readonly number[];
}

/**
 * A store deletes no document, and whoever asks models may think of new sites without end. So there are 256 documents at most, and
 * each has the eight sites that were written last among those whose names begin like its own.
 */
const MOST_SITES = 8;

export function documentId({ id }: Pick<Site, "id">): string {
  return `site:${id.slice(0, 2)}`;
}

/** How long the answers were that a document knows of; nothing where it does not know the site. */
export function outputsIn(document: Document | null, { id }: Pick<Site, "id">): readonly number[] {
  return keptIn(document).find((each) => each.id === id)?.outputs ?? [];
}

/** The document with a site in it. What others have written there stays. */
export function withSite(
  document: Document | null,
  site: Site,
  outputs: readonly number[],
  instant: number,
): PutOperation {
  const others = keptIn(document).filter(({ id }) => id !== site.id);
  const kept: Kept = { id: site.id, model: site.model, instant, outputs: outputs.slice(-REMEMBERED) };
  const sites = [...others, kept].sort((a, b) => a.instant - b.instant).slice(-MOST_SITES);
  return {
    op: "put",
    kind: "history",
    id: documentId(site),
    budget: null,
    status: "site",
    body: { sites: sites.map((each): JsonObject => ({ ...each })) },
    version: document?.version ?? 0,
  };
}

function keptIn(document: Document | null): readonly Kept[] {
  return listOf(document?.body.sites).flatMap((each) => readKept(objectOf(each)) ?? []);
}

/** What another version of this may have written in another way says nothing. */
function readKept({ id, model, instant, outputs }: JsonObject): Kept | null {
  if (typeof id !== "string" || typeof model !== "string" || typeof instant !== "number") return null;
  return { id, model, instant, outputs: listOf(outputs).filter(isFigure).slice(-REMEMBERED) };
}

function isFigure(value: Json): value is number {
  return Number.isSafeInteger(value);
}
