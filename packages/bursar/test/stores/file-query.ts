import { openDatabase } from "../../src/stores/sqlite/driver.js";
import type { Query } from "./truth.js";

/** Reads tables of a SQLite file as they stand, past the store. */
export function queryOf(path: string): Query {
  return async (sql) => {
    const database = openDatabase(path);
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  };
}
