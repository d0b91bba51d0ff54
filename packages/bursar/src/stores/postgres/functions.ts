/**
 * The two functions through which decisions go. They hold no rule of Bursar's: decisions are made by the core, on rows that
 * were read before. `bursar_apply` writes them only if none of those rows has changed since, and otherwise gives back what
 * they are now, so that a decision costs one round trip. Every statement is plain SQL; the order of locks is always budgets,
 * calls, heads, documents, each by name, so that two transactions cannot wait for each other.
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
  `CREATE FUNCTION bursar_apply(work jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
  DECLARE
    matching bigint;
    expected bigint;
    documents boolean := work ? 'readDocuments';
  BEGIN
    SELECT count(*) INTO matching FROM (
      SELECT budgets.version, read.version AS expected
      FROM jsonb_to_recordset(work->'readBudgets') AS read (id text, version bigint)
      JOIN budgets ON budgets.id = read.id
      ORDER BY budgets.id FOR UPDATE OF budgets
    ) AS locked WHERE locked.version = locked.expected;
    expected := jsonb_array_length(work->'readBudgets');
    IF matching = expected THEN
      SELECT count(*) INTO matching FROM (
        SELECT calls.version, read.version AS expected
        FROM jsonb_to_recordset(work->'readCalls') AS read (id text, version bigint)
        JOIN calls ON calls.id = read.id
        ORDER BY calls.id FOR UPDATE OF calls
      ) AS locked WHERE locked.version = locked.expected;
      expected := jsonb_array_length(work->'readCalls');
    END IF;
    IF matching = expected THEN
      SELECT count(*) INTO matching FROM (
        SELECT heads.seq, read.seq AS expected
        FROM jsonb_to_recordset(work->'readHeads') AS read (chain text, seq bigint)
        JOIN heads ON heads.chain = read.chain
        ORDER BY heads.chain FOR UPDATE OF heads
      ) AS locked WHERE locked.seq = locked.expected;
      expected := jsonb_array_length(work->'readHeads');
    END IF;
    IF matching = expected AND EXISTS (
      SELECT 1 FROM calls JOIN jsonb_array_elements_text(work->'absentCalls') AS absent (id) ON calls.id = absent.id
    ) THEN
      expected := -1;
    END IF;
    IF matching = expected AND EXISTS (
      SELECT 1 FROM budgets JOIN jsonb_array_elements_text(work->'absentBudgets') AS absent (id) ON budgets.id = absent.id
    ) THEN
      expected := -1;
    END IF;
    IF matching = expected AND documents AND NOT bursar_documents_match(work->'readDocuments', work->'absentEntries') THEN
      expected := -1;
    END IF;
    IF matching <> expected THEN
      RETURN bursar_read(work->'asked');
    END IF;
    UPDATE budgets SET state = put.state, ended = put.ended, version = budgets.version + 1
      FROM jsonb_to_recordset(work->'budgets') AS put (id text, state text, ended integer) WHERE budgets.id = put.id;
    UPDATE calls SET status = put.status, body = put.body, version = calls.version + 1
      FROM jsonb_to_recordset(work->'calls') AS put (id text, status text, body text) WHERE calls.id = put.id;
    UPDATE heads SET seq = put.seq, hash = put.hash
      FROM jsonb_to_recordset(work->'heads') AS put (chain text, seq bigint, hash text) WHERE heads.chain = put.chain;
    IF work ? 'newBudgets' THEN
      INSERT INTO budgets (id, parent, chain, origin, terms, state, ended, version)
        SELECT put.id, put.parent, put.chain, put.origin, put.terms, put.state, put.ended, 1
        FROM jsonb_to_recordset(work->'newBudgets')
          AS put (id text, parent text, chain text, origin text, terms text, state text, ended integer);
    END IF;
    IF work ? 'newHeads' THEN
      INSERT INTO heads (chain, seq, hash)
        SELECT put.chain, put.seq, put.hash
        FROM jsonb_to_recordset(work->'newHeads') AS put (chain text, seq bigint, hash text);
    END IF;
    INSERT INTO calls (id, budget, kind, status, expires, body, version)
      SELECT put.id, put.budget, put.kind, put.status, put.expires, put.body, 1
      FROM jsonb_to_recordset(work->'newCalls')
        AS put (id text, budget text, kind text, status text, expires double precision, body text);
    INSERT INTO links (chain, seq, lines)
      SELECT put.chain, put.seq, put.lines
      FROM jsonb_to_recordset(work->'links') AS put (chain text, seq bigint, lines text);
    IF work ? 'entries' THEN
      INSERT INTO journal (run, key, entry)
        SELECT put.run, put.key, put.entry
        FROM jsonb_to_recordset(work->'entries') AS put (run text, key text, entry text);
    END IF;
    IF work ? 'documents' THEN
      PERFORM bursar_put_documents(work->'documents');
    END IF;
    IF work ? 'anchored' THEN
      UPDATE heads SET anchored = put.seq
        FROM jsonb_to_recordset(work->'anchored') AS put (chain text, seq bigint) WHERE heads.chain = put.chain;
    END IF;
    RETURN NULL;
  END
  $$`,
];
