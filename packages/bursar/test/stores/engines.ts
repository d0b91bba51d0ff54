import { join } from "node:path";
import postgres from "postgres";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { temporaryFolder } from "./folder.js";
import { givenServer } from "./server.js";

/** One engine in which tests can have as many stores as they like, and can do to them what nobody should. */
export interface TestEngine extends AsyncDisposable {
  /** The URL of a store that is not there yet. */
  fresh(): string;
  /** Does something to the tables behind the store's back. */
  tamper(url: string, sql: string): Promise<void>;
  rows(url: string, sql: string): Promise<readonly Record<string, unknown>[]>;
}

export async function sqliteEngine(): Promise<TestEngine> {
  const folder = await temporaryFolder();
  let stores = 0;
  const open = (url: string) => openDatabase(url.slice("sqlite:".length));
  return {
    fresh: () => `sqlite:${join(folder.path, `${stores++}.db`)}`,
    async tamper(url, sql) {
      const database = open(url);
      database.exec(sql);
      database.close();
    },
    async rows(url, sql) {
      const database = open(url);
      const rows = database.prepare(sql).all();
      database.close();
      return rows;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export async function postgresEngine(): Promise<TestEngine> {
  const server = await givenServer();
  const prefix = `keep_${process.pid}_`;
  let stores = 0;
  const schemaOf = (url: string) => new URL(url).searchParams.get("schema") ?? "";
  const within = async (url: string, sql: string) => {
    const client = postgres(server.url, { max: 1, onnotice: () => {}, connection: { search_path: schemaOf(url) } });
    try {
      return (await client.unsafe(sql)) as unknown as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  return {
    fresh: () => `${server.url}?schema=${prefix}${stores++}`,
    tamper: async (url, sql) => void (await within(url, sql)),
    rows: within,
    async [Symbol.asyncDispose]() {
      for (let at = 0; at < stores; at++) await within(server.url, `DROP SCHEMA IF EXISTS ${prefix}${at} CASCADE`);
      await server[Symbol.asyncDispose]();
    },
  };
}
