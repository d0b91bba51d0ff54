import type { JsonObject } from "../../core/chain/canonical.js";
import type { Head } from "../../core/chain/link.js";
import { refuseArchived } from "../durable/errors.js";
import { type Stretch, stretchesFrom } from "../durable/lines.js";
import { type BudgetRow, type CallRow, readAccount, readCall } from "../durable/rows.js";
import { documentReaders } from "./document-lookup.js";
import type { Database } from "./driver.js";
import type { LookupRequest, Lookups, Readers } from "./messages.js";
import { Queries } from "./queries.js";

const PATH = `
  WITH RECURSIVE path (id, depth) AS (
    SELECT ?, 0
    UNION ALL
    SELECT budgets.parent, path.depth + 1 FROM budgets JOIN path ON budgets.id = path.id WHERE budgets.parent IS NOT NULL
  )
  SELECT accounts.* FROM path JOIN accounts ON accounts.id = path.id ORDER BY path.depth`;

/** By the index of reserved calls: by the primary key, SQLite would read every call that was ever settled. */
export const HELD = "SELECT * FROM calls INDEXED BY calls_due WHERE status = 'reserved' AND id > ? ORDER BY id";

const ARCHIVED = "SELECT seq, archived FROM heads WHERE chain = ?";
type ArchivedHead = Pick<Head, "seq"> & { readonly archived: string | null };

/** Reads what is asked for, each in one statement, so that it is of one moment. */
export function lookups(
  database: Database,
  clock: string,
): <What extends keyof Lookups>(request: LookupRequest<What>) => unknown {
  const queries = new Queries(database);
  const readers: Readers = {
    path: ({ asked, time }) => {
      const reading = { instant: time.instant, monotonic: time.monotonic, clock };
      return queries.all<BudgetRow>(PATH, asked.id).map((row) => readAccount(row, reading).budget);
    },
    head: ({ asked }) =>
      queries.all<Head>("SELECT chain, seq, hash FROM heads WHERE chain = ?", asked.chain)[0] ?? null,
    lines: ({ asked: { chain, from } }) => {
      const found = queries.all<Stretch>(stretchesFrom("?", "?", "?"), chain, chain, from);
      if (found[0] === undefined || found[0].seq > from)
        refuseArchived(chain, from, queries.all<ArchivedHead>(ARCHIVED, chain)[0]);
      return found;
    },
    ...documentReaders(queries),
    entry: ({ asked: { run, key } }) => {
      const [row] = queries.all<{ entry: string }>("SELECT entry FROM journal WHERE run = ? AND key = ?", run, key);
      return row === undefined ? null : { run, key, entry: JSON.parse(row.entry) as JsonObject };
    },
    held: ({ asked: { after } }) => queries.page<CallRow>(HELD, ({ body }) => body.length, after).map(readCall),
    journal: ({ asked: { run, after } }) =>
      queries
        .page<{ seq: number; key: string; entry: string }>(
          "SELECT seq, key, entry FROM journal WHERE run = ? AND seq > ? ORDER BY seq",
          ({ entry }) => entry.length,
          run,
          after,
        )
        .map(({ seq, key, entry }) => ({ seq, entry: { run, key, entry: JSON.parse(entry) as JsonObject } })),
  };
  return (request) => readers[request.what](request as never);
}
