import type { TransactionSql } from "postgres";
import { StoreError } from "../durable/errors.js";
import type { Engine, Sql, SqlRow, SqlValue } from "../durable/housekeeping/port.js";
import { ALL_TABLES } from "../durable/housekeeping/tables.js";
import { type Address, connect, type Server, serverName } from "./connect.js";
import { explain } from "./faults.js";

const ROWS_AT_ONCE = 200;

/** Connects beside the store, with a connection of its own. */
export async function postgresEngine(address: Address): Promise<Engine> {
  const server = connect(address, 1);
  const engine = new PostgresEngine(address, server);
  try {
    await engine.version();
    return engine;
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}

class PostgresEngine implements Engine {
  readonly kind = "postgres";
  readonly where: string;
  readonly copyTo = null;
  private readonly server: Server;
  private readonly schema: string;
  private readonly tables: string;

  constructor({ url, schema }: Address, server: Server) {
    this.where = `${serverName(url)}, schema ${schema}`;
    this.server = server;
    this.schema = schema;
    this.tables = ALL_TABLES.map(({ name }) => `"${schema}"."${name}"`).join(", ");
  }

  async version(): Promise<number> {
    return this.explained(async () => {
      const [found] = await this.server.unsafe("SELECT to_regclass($1) IS NOT NULL AS found", [
        `"${this.schema}".migrations`,
      ]);
      if (found?.found !== true) return 0;
      const [row] = await this.server.unsafe("SELECT max(version) AS version FROM migrations");
      return Number(row?.version ?? 0);
    });
  }

  reading<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.explained(
      () =>
        this.server.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", (inside) =>
          work(port(inside)),
        ) as Promise<Result>,
    );
  }

  writing<Result>(alone: boolean, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.explained(
      () =>
        this.server.begin(async (inside) => {
          if (alone) await inside.unsafe(`LOCK TABLE ${this.tables} IN SHARE ROW EXCLUSIVE MODE`);
          return work(port(inside));
        }) as Promise<Result>,
    );
  }

  async complaints(): Promise<null> {
    return null;
  }

  async bytes(): Promise<number> {
    return this.explained(async () => {
      const sizes = ALL_TABLES.map(({ name }) => `pg_total_relation_size('"${this.schema}"."${name}"')`);
      const [row] = await this.server.unsafe(`SELECT ${sizes.join(" + ")} AS bytes`);
      return Number(row?.bytes ?? 0);
    });
  }

  async vacuum(): Promise<void> {
    await this.explained(() => this.server.unsafe(`VACUUM (ANALYZE) ${this.tables}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.end({ timeout: 5 });
  }

  private async explained<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof StoreError ? error : explain(error, this.where);
    }
  }
}

/** Cursors have names of their own, so that several can be under way in one transaction. */
function port(inside: TransactionSql<{ bigint: number }>): Sql {
  let cursors = 0;
  return {
    forUpdate: "FOR UPDATE",
    async *rows(text, values = []): AsyncGenerator<SqlRow> {
      const name = `bursar_rows_${cursors++}`;
      await inside.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${text}`, [...values]);
      try {
        for (;;) {
          const rows = await inside.unsafe(`FETCH ${ROWS_AT_ONCE} FROM ${name}`);
          yield* rows as unknown as SqlRow[];
          if (rows.length < ROWS_AT_ONCE) return;
        }
      } finally {
        // When the transaction has failed, the cursor is gone with it.
        await inside.unsafe(`CLOSE ${name}`).catch(() => {});
      }
    },
    all: async (text, values = []) => (await inside.unsafe(text, [...values] as SqlValue[])) as unknown as SqlRow[],
    run: async (text, values = []) => void (await inside.unsafe(text, [...values] as SqlValue[], { prepare: true })),
  };
}
