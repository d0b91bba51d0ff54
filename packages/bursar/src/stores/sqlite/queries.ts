import type { Database, SqlValue, Statement } from "./driver.js";
import { PAGE, PAGE_LENGTH } from "./messages.js";

/** So many statements are kept ready. */
const MOST_PREPARED = 200;

/** Statements that read, each prepared once. */
export class Queries {
  private readonly database: Database;
  private readonly prepared = new Map<string, Statement>();

  constructor(database: Database) {
    this.database = database;
  }

  all<Row>(sql: string, ...values: SqlValue[]): readonly Row[] {
    return this.statement(sql).all(...values) as unknown as readonly Row[];
  }

  /** As many rows as fit into one page; `size` says how long each is. */
  page<Row>(sql: string, size: (row: Row) => number, ...values: SqlValue[]): readonly Row[] {
    const rows: Row[] = [];
    let room = PAGE_LENGTH;
    for (const each of this.statement(sql).iterate(...values)) {
      const row = each as unknown as Row;
      rows.push(row);
      room -= size(row);
      if (room <= 0 || rows.length === PAGE) break;
    }
    return rows;
  }

  private statement(sql: string): Statement {
    const known = this.prepared.get(sql);
    if (known !== undefined) return known;
    if (this.prepared.size >= MOST_PREPARED) this.prepared.clear();
    const statement = this.database.prepare(sql);
    this.prepared.set(sql, statement);
    return statement;
  }
}
