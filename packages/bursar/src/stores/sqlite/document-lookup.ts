import { type DocumentRow, readDocument, readPart, TABLES } from "../durable/rows.js";
import type { SqlValue } from "./driver.js";
import type { Lookups, Readers } from "./messages.js";
import type { Queries } from "./queries.js";

const size = ({ body }: DocumentRow): number => body.length;

/** Reads documents. Whoever looks for a status gets a statement of its own, because only that finds them by an index. */
export function documentReaders(queries: Queries): Pick<Readers, "document" | "documents" | "latest" | "counts"> {
  return {
    document: ({ asked: { kind, id } }) => {
      const [row] = queries.all<DocumentRow>(`SELECT * FROM ${TABLES[kind]} WHERE id = ?`, id);
      return row === undefined ? null : readDocument(kind, row);
    },
    documents: ({ asked: { kind, status, after } }) => {
      const only = status === null ? "" : "status = ? AND";
      const sql = `SELECT * FROM ${TABLES[kind]} WHERE ${only} id > ? ORDER BY id`;
      const rows = queries.page<DocumentRow>(sql, size, ...(status === null ? [] : [status]), after);
      return rows.map((row) => readDocument(kind, row));
    },
    latest: ({ asked }) => {
      const { kind, limit, paths } = asked;
      const [sql, values] = latestBefore(asked);
      const rows = queries.page<DocumentRow>(`${sql} LIMIT ?`, size, ...values, limit);
      return rows.map((row) => (paths === null ? readDocument(kind, row) : readPart(kind, row, paths)));
    },
    counts: ({ asked: { kind } }) => {
      const sql = `SELECT status, count(*) AS count FROM ${TABLES[kind]} GROUP BY status`;
      const rows = queries.all<{ status: string; count: number }>(sql);
      return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
    },
  };
}

/** The latest documents, from one on back. */
function latestBefore({ kind, status, before, paths }: Lookups["latest"]["asked"]): [string, SqlValue[]] {
  const table = TABLES[kind];
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
