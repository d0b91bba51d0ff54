import type { Document, DocumentKind } from "../core/document.js";
import { InputError, show } from "../core/errors.js";
import type { Store } from "../ports/store.js";
import type { Page } from "./shapes.js";

/** So many documents are looked through for one page: who looks for something rare gets short pages, and goes on from there. */
const MOST_SEEN = 2000;

export interface LatestOptions<Item> {
  readonly kind: DocumentKind;
  readonly status?: string | undefined;
  /** What the page before gave as `next`. */
  readonly before?: string | undefined;
  readonly limit: number;
  /** What is needed of their bodies; all of it unless it is said. */
  readonly only?: readonly string[];
  /** Null for one that is not wanted. */
  readonly read: (document: Document) => Item | null;
}

/** A page of documents, the latest first. */
export async function latest<Item>(store: Store, options: LatestOptions<Item>): Promise<Page<Item>> {
  const { kind, status, limit, only, read } = options;
  let { before } = options;
  if (before !== undefined && (await store.document(kind, before)) === null) {
    const help = "allowed: the `next` of the page before";
    throw new InputError("before", `is ${show(before)}, and there is no such ${kind}; ${help}`);
  }
  const items: Item[] = [];
  // At first one more than is shown, which tells whether more follow; and ever more when few of them are wanted.
  let [seen, chunk] = [0, limit + 1];
  while (seen < MOST_SEEN) {
    let found = 0;
    for await (const document of store.latest(kind, { status, before, limit: chunk, only })) {
      if (items.length === limit) return { items, next: before ?? null };
      found++;
      before = document.id;
      const item = read(document);
      if (item !== null) items.push(item);
    }
    if (found < chunk) return { items, next: null };
    seen += found;
    chunk *= 2;
  }
  return { items, next: before ?? null };
}
