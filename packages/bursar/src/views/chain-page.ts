import type { Head } from "../core/chain/link.js";
import { checkWhole } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import type { RunRecord } from "../runs/record.js";

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
