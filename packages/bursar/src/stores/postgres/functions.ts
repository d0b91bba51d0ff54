/**
 * The functions through which decisions go. They hold no rule of Bursar's: decisions are made by the core, on rows that were
 * read before. `bursar_apply` writes them only if none of those rows has changed since: every update names the version it
 * replaces, and one that finds none undoes everything. So a decision costs one round trip, and a read followed by a write
 * is never trusted. What was looked at but not changed is held by `bursar_hold`; what most decisions do not need is in
 * `bursar_put`. Rows come sorted by name and are locked in that order, budgets before calls before heads.
 */
export const FUNCTIONS: readonly string[] = [
  `CREATE FUNCTION bursar_read(asked jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
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
    found AS (SELECT budgets.* FROM budgets JOIN wanted ON budgets.id = wanted.id),
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
          SELECT kind, runs.* FROM documents JOIN runs ON kind = 'run' AND runs.id = documents.id
          UNION ALL
          SELECT kind, approvals.* FROM documents JOIN approvals ON kind = 'approval' AND approvals.id = documents.id
          UNION ALL
          SELECT kind, sessions.* FROM documents JOIN sessions ON kind = 'session' AND sessions.id = documents.id
          UNION ALL
          SELECT kind, leases.* FROM documents JOIN leases ON kind = 'lease' AND leases.id = documents.id
        ) AS each),
      'entries', (SELECT jsonb_agg(jsonb_build_object('run', journal.run, 'key', journal.key, 'entry', journal.entry))
                  FROM jsonb_to_recordset(asked->'entries') AS entry (run text, key text)
                  JOIN journal ON journal.run = entry.run AND journal.key = entry.key)
    )
  $$`,
  `CREATE FUNCTION bursar_apply(
    put_budgets json, put_calls json, put_heads json, put_links json, put_entries json, changing bigint, rest jsonb
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    changed bigint := 0;
    rows bigint;
  BEGIN
    IF rest ? 'holding' THEN
      PERFORM bursar_hold(rest->'holding');
    END IF;
    UPDATE budgets SET state = put.state::text, ended = put.ended, version = budgets.version + 1
      FROM json_to_recordset(put_budgets) AS put (id text, state json, ended integer, version bigint)
      WHERE budgets.id = put.id AND budgets.version = put.version;
    GET DIAGNOSTICS rows = ROW_COUNT;
    changed := changed + rows;
    INSERT INTO calls (id, budget, kind, status, expires, body, version)
      SELECT put.id, put.budget, put.kind, put.status, put.expires, put.body::text, put.version
      FROM json_to_recordset(put_calls)
        AS put (id text, budget text, kind text, status text, expires double precision, body json, version bigint)
      ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body, version = excluded.version
        WHERE calls.version = excluded.version - 1;
    GET DIAGNOSTICS rows = ROW_COUNT;
    changed := changed + rows;
    UPDATE heads SET seq = put.seq, hash = put.hash, grown = 1
      FROM json_to_recordset(put_heads) AS put (chain text, seq bigint, hash text, before bigint)
      WHERE heads.chain = put.chain AND heads.seq = put.before;
    GET DIAGNOSTICS rows = ROW_COUNT;
    changed := changed + rows;
    IF changed <> changing THEN
      RAISE EXCEPTION 'somebody else was faster' USING ERRCODE = 'serialization_failure';
    END IF;
    INSERT INTO links (chain, seq, lines)
      SELECT put.chain, put.seq, put.lines
      FROM json_to_recordset(put_links) AS put (chain text, seq bigint, lines text);
    IF put_entries IS NOT NULL THEN
      INSERT INTO journal (run, key, entry)
        SELECT put.run, put.key, put.entry::text
        FROM json_to_recordset(put_entries) AS put (run text, key text, entry json);
    END IF;
    IF rest ? 'plan' THEN
      INSERT INTO plans (token) VALUES ((rest->>'plan')::uuid);
    END IF;
    IF rest ? 'rare' THEN
      PERFORM bursar_put(rest->'rare');
    END IF;
  END
  $$`,
  `CREATE FUNCTION bursar_hold(holding jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    found bigint;
  BEGIN
    SELECT count(*) INTO found FROM (
      SELECT budgets.version, seen.version AS expected
      FROM jsonb_to_recordset(holding->'budgets') AS seen (id text, version bigint)
      JOIN budgets ON budgets.id = seen.id
      ORDER BY budgets.id FOR NO KEY UPDATE OF budgets
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
      RAISE EXCEPTION 'somebody else was faster' USING ERRCODE = 'serialization_failure';
    END IF;
  END
  $$`,
  `CREATE FUNCTION bursar_put(rare jsonb) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO budgets (id, parent, chain, origin, terms, state, ended, version)
      SELECT put.id, put.parent, put.chain, put.origin, put.terms, put.state, put.ended, 1
      FROM jsonb_to_recordset(rare->'newBudgets')
        AS put (id text, parent text, chain text, origin text, terms text, state text, ended integer);
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
