import { createRequire } from "node:module";
import { StoreError } from "../durable/errors.js";

/** A value SQLite can keep. */
export type SqlValue = null | number | string;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(...values: SqlValue[]): unknown;
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  iterate(...values: SqlValue[]): Iterable<SqlRow>;
}

/** The part of the database that we use. Node's own and its stand-in for Node 20 have the same. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
  readonly isTransaction: boolean;
}

interface Driver {
  readonly DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => Database;
}

const load = createRequire(import.meta.url);

/** Node has SQLite inside from 22.13 on. For Node 20 there is a package with the same interface and its binaries inside. */
function driver(): Driver {
  try {
    return withoutWarning(() => load("node:sqlite") as Driver);
  } catch {
    try {
      return load("@photostructure/sqlite") as Driver;
    } catch (cause) {
      throw new StoreError(
        "store_missing",
        `Node ${process.version} has no SQLite inside, and the package @photostructure/sqlite is not there: ` +
          "run `npm install @photostructure/sqlite@1`, or use Node 22.13 or newer",
        { cause },
      );
    }
  }
}

/** Node calls its own SQLite experimental, in a line on standard error that no user of Bursar can do anything about. */
function withoutWarning<Value>(work: () => Value): Value {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

export function openDatabase(path: string): Database {
  const { DatabaseSync } = driver();
  return new DatabaseSync(path);
}
