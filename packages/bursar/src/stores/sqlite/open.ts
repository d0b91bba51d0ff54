import { StoreError } from "../durable/errors.js";
import { MIGRATIONS_TABLE, pending } from "../durable/schema.js";
import { type Database, openDatabase } from "./driver.js";

/** "BURS": by it a file says whose it is, to us and to tools like `file`. Files of our first days say nothing. */
const APPLICATION_ID = 0x42555253;

const DIALECT = { serial: "INTEGER PRIMARY KEY", name: "TEXT" };

/**
 * Opens the file and brings its tables up to date. A commit is on the disk when it is acknowledged (`FULL`), and nobody
 * waits inside SQLite for others: its way of waiting starves them, ours does not.
 */
export function openTables(path: string, instant: number): Database {
  const database = openDatabase(path);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    // Before anything is changed, the mode included.
    refuseForeign(database, path);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA cache_size = -65536");
    // Carrying the log over costs as much as a third of all transactions; four times as rarely, many pages go only once.
    database.exec("PRAGMA wal_autocheckpoint = 4000");
    migrate(database, instant);
    database.exec("PRAGMA busy_timeout = 0");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function migrate(database: Database, instant: number): void {
  if (versionOf(database) === (pending(0, DIALECT).at(-1)?.version ?? 0)) return;
  database.exec("BEGIN IMMEDIATE");
  try {
    if (versionOf(database) === 0) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(MIGRATIONS_TABLE);
    for (const { version, name, statements } of pending(versionOf(database), DIALECT)) {
      for (const statement of statements) database.exec(statement);
      database.prepare("INSERT INTO migrations (version, name, at) VALUES (?, ?, ?)").run(version, name, instant);
    }
    database.exec("COMMIT");
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}

/** Throws when the file is another program's: our tables among its own would help nobody. */
export function refuseForeign(database: Database, path: string): void {
  const id = Number(database.prepare("PRAGMA application_id").get()?.application_id ?? 0);
  if (id === APPLICATION_ID || (id === 0 && (isEmpty(database) || hasOurMigrations(database)))) return;
  throw new StoreError(
    "store_schema",
    `${path} is a SQLite database that belongs to another program: name a file of its own for the store; nothing was changed`,
  );
}

function isEmpty(database: Database): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'").get() === undefined;
}

/** Others have a table of that name too. */
function hasOurMigrations(database: Database): boolean {
  const columns = database.prepare("PRAGMA table_info(migrations)").all();
  return columns.map(({ name }) => name).join() === "version,name,at";
}

/** The version of the tables, 0 when there are none yet. */
export function versionOf(database: Database): number {
  const table = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get();
  if (table === undefined) return 0;
  const { version } = database.prepare("SELECT max(version) AS version FROM migrations").get() ?? {};
  return Number(version ?? 0);
}
