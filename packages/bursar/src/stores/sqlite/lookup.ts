import type { JsonObject } from "../../core/chain/canonical.js";
import type { Head } from "../../core/chain/link.js";
import { refuseArchived } from "../durable/errors.js";
import { type Stretch, stretchesFrom } from "../durable/lines.js";
import { type BudgetRow, type DocumentRow, readAccount, readDocument, readPart, TABLES } from "../durable/rows.js";
import type { Database, SqlValue, Statement } from "./driver.js";
import { type LookupRequest, type Lookups, PAGE, PAGE_LENGTH } from "./messages.js";

const PATH = `
  WITH RECURSIVE path (id, depth) AS (
    SELECT ?, 0
    UNION ALL
    SELECT budgets.parent, path.depth + 1 FROM budgets JOIN path ON budgets.id = path.id WHERE budgets.parent IS NOT NULL
  )
  SELECT accounts.* FROM path JOIN accounts ON accounts.id = path.id ORDER BY path.depth`;

const ARCHIVED = "SELECT seq, archived FROM heads WHERE chain = ?";
type ArchivedHead = Pick<Head, "seq"> & { readonly archived: string | null };

/** The latest documents, from one on back. */
function latestFrom(
  table: string,
  status: string | null,
  before: string | null,
  paths: readonly (readonly string[])[] | null,
): [string, SqlValue[]] {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (status !== null) {
    conditions.push("status = ?");
    values.push(status);
  }
  if (before !== null) {
    conditions.push(`(seq, id) < (SELECT seq, id FROM ${table} WHERE id = ?)`);
    values.push(before);
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const wanted = paths?.map((path) => `body->'$.${path.join(".")}'`).join(", ");
  const body = wanted === undefined ? "body" : `json_array(${wanted}) AS body`;
  return [`SELECT id, budget, status, ${body}, version FROM ${table} ${where} ORDER BY seq DESC, id DESC`, values];
}

type Readers = { readonly [What in keyof Lookups]: (request: LookupRequest<What>) => Lookups[What]["found"] };

/** Reads what is asked for, each in one statement, so that it is of one moment. */
export function lookups(
  database: Database,
  clock: string,
): <What extends keyof Lookups>(request: LookupRequest<What>) => unknown {
  const prepared = new Map<string, Statement>();
  const all = <Row>(sql: string, ...values: SqlValue[]): readonly Row[] => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all(...values) as unknown as readonly Row[];
  };
  const page = <Row>(sql: string, size: (row: Row) => number, ...values: SqlValue[]): readonly Row[] => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    const rows: Row[] = [];
    let room = PAGE_LENGTH;
    for (const each of statement.iterate(...values)) {
      const row = each as unknown as Row;
      rows.push(row);
      room -= size(row);
      if (room <= 0 || rows.length === PAGE) break;
    }
    return rows;
  };
  const readers: Readers = {
    path: ({ asked, time }) => {
      const reading = { instant: time.instant, monotonic: time.monotonic, clock };
      return all<BudgetRow>(PATH, asked.id).map((row) => readAccount(row, reading).budget);
    },
    head: ({ asked }) => all<Head>("SELECT chain, seq, hash FROM heads WHERE chain = ?", asked.chain)[0] ?? null,
    lines: ({ asked: { chain, from } }) => {
      const found = all<Stretch>(stretchesFrom("?", "?", "?"), chain, chain, from);
      if (found[0] === undefined || found[0].seq > from)
        refuseArchived(chain, from, all<ArchivedHead>(ARCHIVED, chain)[0]);
      return found;
    },
    document: ({ asked: { kind, id } }) => {
      const [row] = all<DocumentRow>(`SELECT * FROM ${TABLES[kind]} WHERE id = ?`, id);
      return row === undefined ? null : readDocument(kind, row);
    },
    documents: ({ asked: { kind, status, after } }) =>
      page<DocumentRow>(
        `SELECT * FROM ${TABLES[kind]} WHERE id > ? AND (? IS NULL OR status = ?) ORDER BY id`,
        ({ body }) => body.length,
        after,
        status,
        status,
      ).map((row) => readDocument(kind, row)),
    latest: ({ asked: { kind, status, before, limit, paths } }) => {
      const [sql, values] = latestFrom(TABLES[kind], status, before, paths);
      const size = ({ body }: DocumentRow) => body.length;
      const rows = page<DocumentRow>(`${sql} LIMIT ?`, size, ...values, limit);
      return rows.map((row) => (paths === null ? readDocument(kind, row) : readPart(kind, row, paths)));
    },
    counts: ({ asked: { kind } }) => {
      const rows = all<{ status: string; count: number }>(
        `SELECT status, count(*) AS count FROM ${TABLES[kind]} GROUP BY status`,
      );
      return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
    },
    journal: ({ asked: { run, after } }) =>
      page<{ seq: number; key: string; entry: string }>(
        "SELECT seq, key, entry FROM journal WHERE run = ? AND seq > ? ORDER BY seq",
        ({ entry }) => entry.length,
        run,
        after,
      ).map(({ seq, key, entry }) => ({ seq, entry: { run, key, entry: JSON.parse(entry) as JsonObject } })),
  };
  return (request) => readers[request.what](request as never);
}
