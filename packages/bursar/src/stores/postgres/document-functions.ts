import { TABLES } from "../durable/rows.js";

/** Looks documents up in the table of their kind; `documents` are the wanted ones. */
export const WANTED_DOCUMENTS: string = Object.entries(TABLES)
  .map(
    ([kind, table]) =>
      `SELECT kind, ${table}.* FROM documents JOIN ${table} ON kind = '${kind}' AND ${table}.id = documents.id`,
  )
  .join(" UNION ALL ");

/** The same statements for every table of documents, done for those that are concerned: most concern one. */
function each(statement: (kind: string, table: string) => string): string {
  return Object.entries(TABLES)
    .map(([kind, table]) => `IF documents @> '[{"kind": "${kind}"}]' THEN ${statement(kind, table)} END IF;`)
    .join("\n");
}

/** Documents, apart from the rest because most decisions need none. */
export const DOCUMENT_FUNCTIONS: readonly string[] = [
  `CREATE OR REPLACE FUNCTION bursar_documents_match(documents jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    matching bigint := 0;
    expected bigint;
    more bigint;
  BEGIN
    SELECT count(*) INTO expected FROM jsonb_to_recordset(documents) AS read (version bigint) WHERE read.version > 0;
    ${each(
      (kind, table) => `SELECT count(*) INTO more FROM (
      SELECT ${table}.version, read.version AS expected
      FROM jsonb_to_recordset(documents) AS read (kind text, id text, version bigint)
      JOIN ${table} ON read.kind = '${kind}' AND ${table}.id = read.id
      ORDER BY ${table}.id FOR UPDATE OF ${table}
    ) AS locked WHERE locked.version = locked.expected;
    matching := matching + more;
    IF EXISTS (
      SELECT 1 FROM jsonb_to_recordset(documents) AS read (kind text, id text, version bigint)
      JOIN ${table} ON read.kind = '${kind}' AND read.version = 0 AND ${table}.id = read.id
    ) THEN
      RETURN false;
    END IF;`,
    )}
    RETURN matching = expected;
  END
  $$`,
  `CREATE OR REPLACE FUNCTION bursar_put_documents(documents jsonb) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    ${each(
      (kind, table) => `INSERT INTO ${table} (id, budget, status, body, version, seq)
      SELECT put.id, put.budget, put.status, put.body, put.version,
        (SELECT coalesce(max(seq), 0) FROM ${table}) + row_number() OVER ()
      FROM jsonb_to_recordset(documents) AS put (kind text, id text, budget text, status text, body text, version bigint, fresh boolean)
      WHERE put.kind = '${kind}' AND put.fresh;
    UPDATE ${table} SET budget = put.budget, status = put.status, body = put.body, version = put.version
      FROM jsonb_to_recordset(documents) AS put (kind text, id text, budget text, status text, body text, version bigint, fresh boolean)
      WHERE put.kind = '${kind}' AND NOT put.fresh AND ${table}.id = put.id;`,
    )}
  END
  $$`,
];
