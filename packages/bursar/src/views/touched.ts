import type { Document } from "../core/document.js";
import { runOfClaim } from "../runs/claim.js";
import type { Written } from "../runtime/told-store.js";

/** What a transaction has touched. */
export interface Touched {
  /** Runs and approvals as they were written. */
  readonly documents: readonly Document[];
  /** Runs whose worker has written. */
  readonly driven: readonly string[];
  /** The last position of every chain that has grown. */
  readonly chains: ReadonlyMap<string, number>;
}

/** Reads from its outcomes what a transaction has touched. */
export function touchedBy({ outcomes }: Written): Touched {
  const documents: Document[] = [];
  const driven: string[] = [];
  const chains = new Map<string, number>();
  for (const outcome of outcomes) {
    for (const link of outcome.links) {
      const at = link.lastIndexOf("#");
      chains.set(link.slice(0, at), Number(link.slice(at + 1)));
    }
    if (outcome.op !== "put") continue;
    const { document } = outcome;
    if (document.kind === "run" || document.kind === "approval") documents.push(document);
    const run = document.kind === "lease" ? runOfClaim(document.id) : null;
    if (run !== null) driven.push(run);
  }
  // A worker that only renews its claim has done nothing that anybody could see.
  return { documents, driven: chains.size === 0 ? [] : driven, chains };
}
