import type { Head } from "../core/chain/link.js";
import { checkWhole } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import type { RunRecord } from "../runs/record.js";
import { placeOf } from "../runtime/savings.js";
import { SERVER_CHAIN } from "../runtime/server-chain.js";

/** Lines of a chain, exactly as they were hashed. */
export interface ChainPage {
  readonly lines: readonly string[];
  readonly head: Head | null;
  /** Where the rest begins; null at the end. */
  readonly next: number | null;
}

const MOST_LINES = 5000;
/** A page is not longer than this, whatever its lines hold; one line is always given. */
const MOST_CHARACTERS = 8 * 1024 * 1024;

/**
 * The chain that the events of a budget go to: its own, else that of the nearest above it that has one. Null when there is none, and
 * for the server's own, which has everybody's logins and is shown by other ways.
 */
export async function budgetChain(store: Store, budget: string): Promise<string | null> {
  const { chain } = await placeOf(store, budget);
  return chain === SERVER_CHAIN ? null : chain;
}

/** Some of the chain that a run's events go to. */
export async function chainPage(
  store: Store,
  { budget }: Pick<RunRecord, "budget">,
  from: number,
  limit: number,
): Promise<ChainPage> {
  checkWhole(from, "from", 0, Number.MAX_SAFE_INTEGER);
  checkWhole(limit, "limit", 1, MOST_LINES);
  const head = await store.head(budget);
  const lines: string[] = [];
  let room = MOST_CHARACTERS;
  // Beyond the head that was read there may be more by now; who shows a page wants to verify it up to this head.
  for await (const line of store.chain(budget, from)) {
    if (head === null || from + lines.length > head.seq) break;
    lines.push(line);
    room -= line.length;
    if (lines.length === limit || room <= 0) break;
  }
  const next = from + lines.length;
  return { lines, head, next: head !== null && lines.length > 0 && next <= head.seq ? next : null };
}
