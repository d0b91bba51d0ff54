import { WANTED_DOCUMENTS } from "./document-functions.js";

/** Stands between the fields of a work. No name and no JSON has it in it. */
export const BETWEEN = "\u001f";

/**
 * The functions through which decisions go. They hold no rule of Bursar's: decisions are made by the core, on rows that were
 * read before. `bursar_apply` writes them only if none of those rows has changed since: every update names the version it
 * replaces, and one that finds none undoes everything. So a decision costs one round trip, and a read followed by a write
 * is never trusted. What was looked at but not changed is held by `bursar_hold`; what most decisions do not need is in
 * `bursar_put`. Rows come sorted by name and are locked in that order, budgets before calls before heads.
 */
export const FUNCTIONS: readonly string[] = [
  `CREATE OR REPLACE FUNCTION bursar_read(asked jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    WITH RECURSIVE
    wanted_calls AS (
      SELECT calls.* FROM calls JOIN jsonb_array_elements_text(asked->'calls') AS call (id) ON calls.id = call.id
    ),
    wanted (id) AS (
      SELECT value FROM jsonb_array_elements_text(asked->'budgets')
      UNION
      SELECT budget FROM wanted_calls
      UNION
      SELECT budgets.parent FROM budgets JOIN wanted ON budgets.id = wanted.id WHERE budgets.parent IS NOT NULL
    ),
    found AS (SELECT accounts.* FROM accounts JOIN wanted ON accounts.id = wanted.id),
    chains (chain) AS (
      SELECT value FROM jsonb_array_elements_text(asked->'heads')
      UNION
      SELECT chain FROM found
    ),
    documents AS (
      SELECT kind, id FROM jsonb_to_recordset(asked->'documents') AS document (kind text, id text)
    )
    SELECT jsonb_build_object(
      'budgets', (SELECT jsonb_agg(to_jsonb(found)) FROM found),
      'calls', (SELECT jsonb_agg(to_jsonb(wanted_calls)) FROM wanted_calls),
      'heads', (SELECT jsonb_agg(jsonb_build_object('chain', heads.chain, 'seq', heads.seq, 'hash', heads.hash))
                FROM heads JOIN chains ON heads.chain = chains.chain),
      'documents', (SELECT jsonb_agg(to_jsonb(each)) FROM (
          ${WANTED_DOCUMENTS}
        ) AS each),
      'entries', (SELECT jsonb_agg(jsonb_build_object('run', journal.run, 'key', journal.key, 'entry', journal.entry))
                  FROM jsonb_to_recordset(asked->'entries') AS entry (run text, key text)
                  JOIN journal ON journal.run = entry.run AND journal.key = entry.key)
    )
  $$`,
  `CREATE OR REPLACE FUNCTION bursar_apply(work text, rest jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    f text[] := string_to_array(work, '${BETWEEN}');
    at integer := 6;
  BEGIN
    IF rest ? 'holding' THEN
      PERFORM bursar_hold(rest->'holding');
    END IF;
    FOR row IN 1..f[1]::integer LOOP
      UPDATE states SET state = f[at + 2], ended = f[at + 3]::integer, version = version + 1
        WHERE id = f[at] AND version = f[at + 1]::bigint;
      IF NOT FOUND THEN
        PERFORM bursar_stale();
      END IF;
      at := at + 4;
    END LOOP;
    FOR row IN 1..f[2]::integer LOOP
      IF f[at + 1] = '0' THEN
        INSERT INTO calls (id, status, body, budget, kind, expires, version)
          VALUES (f[at], f[at + 2], f[at + 3], f[at + 4], f[at + 5], nullif(f[at + 6], '')::double precision, 1);
      ELSE
        UPDATE calls SET status = f[at + 2], body = f[at + 3], version = version + 1
          WHERE id = f[at] AND version = f[at + 1]::bigint;
        IF NOT FOUND THEN
          PERFORM bursar_stale();
        END IF;
      END IF;
      at := at + 7;
    END LOOP;
    FOR row IN 1..f[3]::integer LOOP
      UPDATE heads SET seq = f[at + 2]::bigint, hash = f[at + 3], grown = 1
        WHERE chain = f[at] AND seq = f[at + 1]::bigint;
      IF NOT FOUND THEN
        PERFORM bursar_stale();
      END IF;
      at := at + 4;
    END LOOP;
    FOR row IN 1..f[4]::integer LOOP
      INSERT INTO links (chain, seq, lines) VALUES (f[at], f[at + 1]::bigint, f[at + 2]);
      at := at + 3;
    END LOOP;
    FOR row IN 1..f[5]::integer LOOP
      INSERT INTO journal (run, key, entry) VALUES (f[at], f[at + 1], f[at + 2]);
      at := at + 3;
    END LOOP;
    IF rest IS NULL THEN
      RETURN;
    END IF;
    IF rest ? 'plan' THEN
      INSERT INTO plans (token) VALUES ((rest->>'plan')::uuid);
    END IF;
    IF rest ? 'rare' THEN
      PERFORM bursar_put(rest->'rare');
    END IF;
  END
  $$`,
  `CREATE OR REPLACE FUNCTION bursar_stale() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'somebody else was faster' USING ERRCODE = 'serialization_failure';
  END
  $$`,
  `CREATE OR REPLACE FUNCTION bursar_hold(holding jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    found bigint;
  BEGIN
    SELECT count(*) INTO found FROM (
      SELECT states.version, seen.version AS expected
      FROM jsonb_to_recordset(holding->'budgets') AS seen (id text, version bigint)
      JOIN states ON states.id = seen.id
      ORDER BY states.id FOR NO KEY UPDATE OF states
    ) AS held WHERE held.version = held.expected;
    found := found + (SELECT count(*) FROM (
      SELECT calls.version, seen.version AS expected
      FROM jsonb_to_recordset(holding->'calls') AS seen (id text, version bigint)
      JOIN calls ON calls.id = seen.id
      ORDER BY calls.id FOR NO KEY UPDATE OF calls
    ) AS held WHERE held.version = held.expected);
    IF found <> (holding->>'count')::bigint OR EXISTS (
      SELECT 1 FROM budgets JOIN jsonb_array_elements_text(holding->'absentBudgets') AS absent (id) ON budgets.id = absent.id
    ) OR EXISTS (
      SELECT 1 FROM calls JOIN jsonb_array_elements_text(holding->'absentCalls') AS absent (id) ON calls.id = absent.id
    ) OR (holding ? 'documents' AND NOT bursar_documents_match(holding->'documents')) THEN
      PERFORM bursar_stale();
    END IF;
  END
  $$`,
  `CREATE OR REPLACE FUNCTION bursar_put(rare jsonb) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO budgets (id, parent, chain, origin, terms)
      SELECT put.id, put.parent, put.chain, put.origin, put.terms
      FROM jsonb_to_recordset(rare->'newBudgets') AS put (id text, parent text, chain text, origin text, terms text);
    INSERT INTO states (id, state, ended, version)
      SELECT put.id, put.state, put.ended, 1
      FROM jsonb_to_recordset(rare->'newBudgets') AS put (id text, state text, ended integer);
    INSERT INTO heads (chain, seq, hash)
      SELECT put.chain, put.seq, put.hash
      FROM jsonb_to_recordset(rare->'newHeads') AS put (chain text, seq bigint, hash text);
    IF rare ? 'documents' THEN
      PERFORM bursar_put_documents(rare->'documents');
    END IF;
    UPDATE heads SET grown = 0
      FROM jsonb_to_recordset(rare->'anchored') AS put (chain text, seq bigint)
      WHERE heads.chain = put.chain AND heads.seq = put.seq;
  END
  $$`,
];
