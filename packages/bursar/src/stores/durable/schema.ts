import { StoreError } from "./errors.js";

/** One change of the tables. It is never edited once it has been released: the next one mends it. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** What the two engines spell differently. Everything else is the same text for both. */
export interface Dialect {
  /** A column that counts up by itself. */
  readonly serial: string;
  /** A text that names something: compared byte by byte, so that every engine has the same order. */
  readonly name: string;
}

/**
 * The tables of every durable store. Amounts, limits and the like are JSON texts, because their dimensions are the user's
 * to define; what is looked for stands in columns.
 */
function migrations({ serial, name }: Dialect): readonly Migration[] {
  // Documents share one shape; each kind has a table of its own, so that each can be looked through on its own.
  const documents = (table: string) => [
    `CREATE TABLE ${table} (
      id ${name} PRIMARY KEY, budget ${name}, status ${name} NOT NULL, body TEXT NOT NULL, version BIGINT NOT NULL
    )`,
    `CREATE INDEX ${table}_status ON ${table} (status, id)`,
  ];
  return [
    {
      version: 1,
      name: "budgets, calls, chains, journal and documents",
      statements: [
        `CREATE TABLE budgets (
          id ${name} PRIMARY KEY, parent ${name}, chain ${name} NOT NULL, origin TEXT NOT NULL, terms TEXT NOT NULL
        )`,
        // Apart from what never changes, which would have to be copied with every call.
        `CREATE TABLE states (
          id ${name} PRIMARY KEY, state TEXT NOT NULL, ended INTEGER NOT NULL, version BIGINT NOT NULL
        )`,
        `CREATE VIEW accounts AS
          SELECT budgets.id, parent, chain, origin, terms, state, ended, version
          FROM budgets JOIN states ON states.id = budgets.id`,
        "CREATE INDEX budgets_parent ON budgets (parent)",
        `CREATE TABLE calls (
          id ${name} PRIMARY KEY, budget ${name} NOT NULL, kind TEXT NOT NULL, status ${name} NOT NULL,
          expires DOUBLE PRECISION, body TEXT NOT NULL, version BIGINT NOT NULL
        )`,
        "CREATE INDEX calls_due ON calls (expires, id) WHERE status = 'reserved'",
        `CREATE TABLE links (
          chain ${name} NOT NULL, seq BIGINT NOT NULL, lines TEXT NOT NULL, PRIMARY KEY (chain, seq)
        )`,
        `CREATE TABLE heads (
          chain ${name} PRIMARY KEY, seq BIGINT NOT NULL, hash TEXT NOT NULL,
          grown INTEGER NOT NULL DEFAULT 1, archived TEXT
        )`,
        // A head changes with every call, and this index only when the chain is anchored, and when it grows again.
        "CREATE INDEX heads_grown ON heads (chain) WHERE grown = 1",
        `CREATE TABLE journal (
          seq ${serial}, run ${name} NOT NULL, key ${name} NOT NULL, entry TEXT NOT NULL, UNIQUE (run, key)
        )`,
        ...["runs", "approvals", "sessions", "leases"].flatMap(documents),
      ],
    },
    { version: 2, name: "keys of the gateway", statements: documents("keys") },
    { version: 3, name: "tokens of the server", statements: documents("tokens") },
    { version: 4, name: "the latest documents", statements: DOCUMENTS.flatMap(numbered) },
    {
      version: 5,
      name: "histories and batches",
      statements: ["histories", "batches"].flatMap((table) => [...documents(table), ...numbered(table)]),
    },
  ];
}

/** The tables of documents that there were when documents got numbers. */
const DOCUMENTS = ["runs", "approvals", "sessions", "leases", "keys", "tokens"] as const;

/**
 * Numbers documents in the order in which they are first written, so that the latest can be found without looking at all of
 * them. Those that are there already are numbered by their names, which most of them were given in the order of time.
 */
function numbered(table: string): readonly string[] {
  return [
    `ALTER TABLE ${table} ADD COLUMN seq BIGINT NOT NULL DEFAULT 0`,
    `UPDATE ${table} SET seq = numbers.number
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM ${table}) AS numbers
      WHERE numbers.id = ${table}.id`,
    `CREATE INDEX ${table}_latest ON ${table} (seq, id)`,
    `CREATE INDEX ${table}_latest_status ON ${table} (status, seq, id)`,
  ];
}

export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, at DOUBLE PRECISION NOT NULL
)`;

/** The migrations still to be run on tables of this version, 0 for none. */
export function pending(version: number, dialect: Dialect): readonly Migration[] {
  const all = migrations(dialect);
  const newest = all.at(-1)?.version ?? 0;
  if (version > newest) throw tooNew(version, newest);
  return all.filter((migration) => migration.version > version);
}

/** The tables were made by a newer Bursar. They are left as they are. */
function tooNew(found: number, known: number): StoreError {
  return new StoreError(
    "store_schema",
    `the store has schema version ${found}, but this Bursar knows versions up to ${known}; ` +
      "install the Bursar that wrote it, or a newer one. Nothing was changed.",
  );
}
