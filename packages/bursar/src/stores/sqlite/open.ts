import { MIGRATIONS_TABLE, pending } from "../durable/schema.js";
import { type Database, openDatabase } from "./driver.js";

const DIALECT = { serial: "INTEGER PRIMARY KEY", name: "TEXT" };

/**
 * Opens the file and brings its tables up to date. A commit is on the disk when it is acknowledged (`FULL`), and nobody
 * waits inside SQLite for others: its way of waiting starves them, ours does not.
 */
export function openTables(path: string, instant: number): Database {
  const database = openDatabase(path);
  try {
    database.exec("PRAGMA busy_timeout = 5000");
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

/** The version of the tables, 0 when there are none yet. */
function versionOf(database: Database): number {
  const table = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get();
  if (table === undefined) return 0;
  const { version } = database.prepare("SELECT max(version) AS version FROM migrations").get() ?? {};
  return Number(version ?? 0);
}
