import type { Books } from "./books.js";
import { StaleError } from "./document.js";
import type { JournalOperation, Outcome, OutcomeOf, PutOperation } from "./operation.js";

/** The chain in which a store records the heads of all others. */
export const TENANT_CHAIN = "bursar:tenant";

/** So many heads go into one link at most. */
const ANCHORING = 500;

export function put(books: Books, operation: PutOperation): OutcomeOf<PutOperation> {
  const { kind, id, budget, status, body, version } = operation;
  const known = books.document(kind, id);
  if ((known?.version ?? 0) !== version) throw new StaleError(kind, id, version, known ?? null);
  const document = { kind, id, budget, status, body, version: version + 1 };
  books.putDocument(document);
  return { op: "put", document, links: [] };
}

export function journal(books: Books, { run, key, entry }: JournalOperation): OutcomeOf<JournalOperation> {
  const known = books.entry(run, key);
  if (known !== undefined) return { op: "journal", entry: known, repeated: true, links: [] };
  const written = { run, key, entry };
  books.putEntry(written);
  return { op: "journal", entry: written, repeated: false, links: [] };
}

/**
 * Whoever holds one link of the tenant's chain can tell, for every chain it names, whether that one was cut or rewritten
 * since; so one signed head vouches for all runs, archived ones too.
 */
export function anchor(books: Books): Extract<Outcome, { op: "anchor" }> {
  const grown = books.unanchored(ANCHORING + 1);
  const heads = grown.filter(({ chain }) => chain !== TENANT_CHAIN).slice(0, ANCHORING);
  if (heads.length === 0) return { op: "anchor", heads, links: [] };
  const data = { heads: heads.map(({ chain, seq, hash }) => ({ chain, seq, hash })) };
  const link = books.append(TENANT_CHAIN, { action_type: "ChainsAnchored", data }, null);
  for (const head of heads) books.anchor(head);
  return { op: "anchor", heads, links: [link] };
}
