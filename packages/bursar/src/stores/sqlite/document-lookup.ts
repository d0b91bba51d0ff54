import { type DocumentRow, endOf, readDocument, readPart, TABLES } from "../durable/rows.js";
import type { SqlValue } from "./driver.js";
import type { Lookups, Readers } from "./messages.js";
import type { Queries } from "./queries.js";

const size = ({ body }: DocumentRow): number => body.length;

/** Reads documents. Whoever looks for a status gets a statement of its own, because only that finds them by an index. */
export function documentReaders(
  queries: Queries,
): Pick<Readers, "document" | "documents" | "ordered" | "beginning" | "counts"> {
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
    ordered: ({ asked }) => {
      const { kind, limit, paths } = asked;
      const [sql, values] = inOrder(asked);
      const rows = queries.page<DocumentRow>(`${sql} LIMIT ?`, size, ...values, limit);
      return rows.map((row) => (paths === null ? readDocument(kind, row) : readPart(kind, row, paths)));
    },
    beginning: ({ asked: { kind, prefix, status, after, limit, paths } }) => {
      const only = status === null ? "" : "status = ? AND";
      const wanted = `WHERE ${only} id >= ? AND id < ? AND id > ?`;
      const sql = `SELECT ${columns(paths)} FROM ${TABLES[kind]} ${wanted} ORDER BY id LIMIT ?`;
      const values = [...(status === null ? [] : [status]), prefix, endOf(prefix), after, limit];
      const rows = queries.page<DocumentRow>(sql, size, ...values);
      return rows.map((row) => (paths === null ? readDocument(kind, row) : readPart(kind, row, paths)));
    },
    counts: ({ asked: { kind } }) => {
      const sql = `SELECT status, count(*) AS count FROM ${TABLES[kind]} GROUP BY status`;
      const rows = queries.all<{ status: string; count: number }>(sql);
      return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
    },
  };
}

/** Documents in the order in which they were first written, from one on, forwards or back. */
function inOrder({ kind, order, status, beyond, paths }: Lookups["ordered"]["asked"]): [string, SqlValue[]] {
  const table = TABLES[kind];
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (status !== null) {
    conditions.push("status = ?");
    values.push(status);
  }
  const [direction, further] = order === "latest" ? ["DESC", "<"] : ["ASC", ">"];
  if (beyond !== null) {
    conditions.push(`(seq, id) ${further} (SELECT seq, id FROM ${table} WHERE id = ?)`);
    values.push(beyond);
  }
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return [`SELECT ${columns(paths)} FROM ${table} ${where} ORDER BY seq ${direction}, id ${direction}`, values];
}

function columns(paths: Lookups["ordered"]["asked"]["paths"]): string {
  const wanted = paths?.map((path) => `body->'$.${path.join(".")}'`).join(", ");
  return `id, budget, status, ${wanted === undefined ? "body" : `json_array(${wanted}) AS body`}, version`;
}
