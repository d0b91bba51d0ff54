import { statSync } from "node:fs";
import { resolve } from "node:path";
import { StoreError, unseen } from "../durable/errors.js";
import type { Engine, Sql, SqlRow, SqlValue } from "../durable/housekeeping/port.js";
import { type Database, openDatabase, type Statement } from "./driver.js";
import { explain, isDamage } from "./faults.js";
import { refuseForeign, versionOf } from "./open.js";
import { makePrivate } from "./private-file.js";

/** So many rows are read before others in this process get a turn. */
const ROWS_A_TURN = 500;
const PATIENCE_MS = 30_000;
const MOST_COMPLAINTS = 20;

/** Opens the file beside its store, in the mode it has: what reads here keeps nobody from writing. */
export function sqliteEngine(path: string): Engine {
  const file = resolve(path);
  if (sizeOf(file) === null) {
    throw new StoreError("store_missing", `there is no store at ${file}; \`bursar store migrate\` makes one`);
  }
  return new SqliteEngine(file);
}

class SqliteEngine implements Engine {
  readonly kind = "sqlite";
  readonly where: string;
  private readonly database: Database;
  private readonly sql: Sql;
  private readonly underWay = new Set<Statement>();

  constructor(file: string) {
    this.where = file;
    this.database = this.explained(() => {
      const database = openDatabase(file);
      database.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`);
      return database;
    });
    const statements = new Map<string, Statement>();
    const prepare = (text: string): Statement => {
      const known = statements.get(text);
      if (known !== undefined) return known;
      const statement = this.database.prepare(text.replace(/\$(\d+)/g, "?$1"));
      if (text.length < 1000) statements.set(text, statement);
      return statement;
    };
    this.sql = {
      forUpdate: "",
      rows: (text, values = []) => this.stream(text, values),
      all: async (text, values = []) => this.explained(() => prepare(text).all(...values)),
      run: async (text, values = []) => this.explained(() => void prepare(text).run(...values)),
    };
  }

  async version(): Promise<number> {
    return this.explained(() => {
      refuseForeign(this.database, this.where);
      return versionOf(this.database);
    });
  }

  reading<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.transaction("BEGIN", work);
  }

  writing<Result>(_alone: boolean, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.transaction("BEGIN IMMEDIATE", work);
  }

  async complaints(): Promise<readonly string[]> {
    const complaints: string[] = [];
    const statement = this.database.prepare(`PRAGMA integrity_check(${MOST_COMPLAINTS})`);
    try {
      for (const row of statement.iterate()) complaints.push(...String(row.integrity_check).split("\n"));
    } catch (error) {
      // It may stumble over what it is looking for; what it has found by then is still worth telling.
      if (complaints.length === 0) complaints.push((error as Error).message);
    }
    return complaints.filter((text) => text !== "ok" && !text.startsWith("***")).slice(0, MOST_COMPLAINTS);
  }

  async bytes(): Promise<number> {
    return (sizeOf(this.where) ?? 0) + (sizeOf(`${this.where}-wal`) ?? 0);
  }

  async vacuum(): Promise<void> {
    this.explained(() => {
      for (const sql of ["VACUUM", "PRAGMA optimize", "PRAGMA wal_checkpoint(TRUNCATE)"]) this.database.exec(sql);
    });
  }

  readonly copyTo = async (path: string): Promise<void> => {
    // SQLite writes into a file that is there as long as it is empty.
    makePrivate(path);
    try {
      this.database.prepare("VACUUM INTO ?").run(path);
    } catch (error) {
      throw explain(error, isDamage(error) ? this.where : path);
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.database.close();
  }

  private async transaction<Result>(begin: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    this.explained(() => this.database.exec(begin));
    try {
      const result = await work(this.sql);
      this.explained(() => this.database.exec("COMMIT"));
      return result;
    } finally {
      if (this.database.isTransaction) this.database.exec("ROLLBACK");
    }
  }

  /** A statement of its own, because the same one may be under way twice. */
  private async *stream(text: string, values: readonly SqlValue[]): AsyncGenerator<SqlRow> {
    let count = 0;
    const statement = this.explained(() => this.database.prepare(text.replace(/\$(\d+)/g, "?$1")));
    // An iterator does not keep its statement from being collected, and one that was collected crashes the process.
    this.underWay.add(statement);
    try {
      for (const row of statement.iterate(...values)) {
        yield row;
        // Reading is synchronous: without a rest, no signal and no timer would ever be heard.
        if (++count % ROWS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      throw explain(error, this.where);
    } finally {
      this.underWay.delete(statement);
    }
  }

  private explained<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (error) {
      throw explain(error, this.where);
    }
  }
}

function sizeOf(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? null;
  } catch (cause) {
    throw unseen(file, cause);
  }
}
