import type { Row } from "postgres";
import { StoreError } from "../durable/errors.js";
import type { Engine, Sql, SqlRow, SqlValue } from "../durable/housekeeping/port.js";
import { ALL_TABLES } from "../durable/housekeeping/tables.js";
import { type Address, connect, type Server, serverName, versionOf } from "./connect.js";
import { explain } from "./faults.js";
import type { Asking } from "./pool.js";

const ROWS_AT_ONCE = 200;

/** Connects beside the store, with a connection of its own. */
export async function postgresEngine(address: Address): Promise<Engine> {
  const engine = new PostgresEngine(address);
  try {
    await engine.version();
    return engine;
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    throw error;
  }
}

/** Thrown where the connection was lost in the middle of a transaction, which is lost with it. */
class Cut extends Error {
  readonly code = "CONNECTION_CLOSED";
}

class PostgresEngine implements Engine, Asking {
  readonly kind = "postgres";
  readonly where: string;
  readonly copyTo = null;
  private readonly server: Server;
  private readonly schema: string;
  private readonly tables: string;
  private cuts = 0;

  constructor(address: Address) {
    const { url, schema } = address;
    this.where = `${serverName(url)}, schema ${schema}`;
    this.server = connect(address, {
      lasting: true,
      onclose: () => {
        this.cuts++;
      },
    });
    this.schema = schema;
    this.tables = ALL_TABLES.map(({ name }) => `"${schema}"."${name}"`).join(", ");
  }

  version(): Promise<number> {
    return this.explained(() => versionOf(this, this.schema));
  }

  reading<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", work);
  }

  writing<Result>(alone: boolean, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.transaction("BEGIN", async (sql) => {
      if (alone) await sql.run(`LOCK TABLE ${this.tables} IN SHARE ROW EXCLUSIVE MODE`);
      return work(sql);
    });
  }

  async complaints(): Promise<null> {
    return null;
  }

  async bytes(): Promise<number> {
    return this.explained(async () => {
      const sizes = ALL_TABLES.map(({ name }) => `pg_total_relation_size('"${this.schema}"."${name}"')`);
      const [row] = await this.ask(`SELECT ${sizes.join(" + ")} AS bytes`);
      return Number(row?.bytes ?? 0);
    });
  }

  async vacuum(): Promise<void> {
    await this.explained(() => this.ask(`VACUUM (ANALYZE) ${this.tables}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.end({ timeout: 5 });
  }

  ask(sql: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return this.server.unsafe(sql, [...values]);
  }

  /**
   * The driver has transactions of its own, but brings the process down when the connection of one is cut. Here every
   * statement makes sure that it is still the same connection: on the next one it would not be undone with the others.
   */
  private transaction<Result>(begin: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.explained(async () => {
      await this.ask(begin);
      const { cuts } = this;
      const ask: Asking["ask"] = async (sql, values) => {
        if (this.cuts !== cuts) throw new Cut("the connection was lost");
        return this.ask(sql, values);
      };
      try {
        const result = await work(port({ ask }));
        await ask("COMMIT");
        return result;
      } catch (error) {
        await ask("ROLLBACK").catch(() => {});
        throw error;
      }
    });
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
function port({ ask }: Asking): Sql {
  let cursors = 0;
  return {
    forUpdate: "FOR UPDATE",
    async *rows(text, values = []): AsyncGenerator<SqlRow> {
      const name = `bursar_rows_${cursors++}`;
      await ask(`DECLARE ${name} NO SCROLL CURSOR FOR ${text}`, values);
      try {
        for (;;) {
          const rows = await ask(`FETCH ${ROWS_AT_ONCE} FROM ${name}`);
          yield* rows as unknown as SqlRow[];
          if (rows.length < ROWS_AT_ONCE) return;
        }
      } finally {
        // When the transaction has failed, the cursor is gone with it.
        await ask(`CLOSE ${name}`).catch(() => {});
      }
    },
    all: async (text, values) => (await ask(text, values)) as unknown as SqlRow[],
    run: async (text, values) => void (await ask(text, values)),
  };
}
