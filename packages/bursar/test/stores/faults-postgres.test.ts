import { type AddressInfo, createServer } from "node:net";
import { StoreError } from "bursar";
import { PostgresStore, type PostgresStoreOptions } from "bursar/postgres";
import postgres from "postgres";
import { afterAll, describe, expect, test } from "vitest";
import { startPostgres } from "../../../../test/postgres/server.mjs";
import type { Sql } from "../../src/stores/durable/housekeeping/port.js";
import { postgresEngine } from "../../src/stores/postgres/engine.js";

const server = await startPostgres();
const sql = postgres(server.url, { max: 2, onnotice: () => {}, backoff: () => 0.1 });
let schemas = 0;
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await server[Symbol.asyncDispose]();
});

async function charge(store: PostgresStore, call: string): Promise<void> {
  await store.apply([{ op: "charge", budget: "all", call, used: { steps: 1 } as never }]);
}

/** A server that has just come back may take longer than the little patience these tests have. */
async function chargeAtLast(store: PostgresStore, call: string): Promise<void> {
  for (;;) {
    try {
      return await charge(store, call);
    } catch (error) {
      if ((error as StoreError).code !== "store_down") throw error;
    }
  }
}

/** A store with one budget, that has been charged once. */
async function filled(options: Partial<PostgresStoreOptions> = {}) {
  const schema = `faults_${schemas++}`;
  const store = await PostgresStore.open({ url: server.url, schema, ...options });
  const grant = { kind: "limits", limits: {} } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "all", scope: "shared", grant } }]);
  await charge(store, "first");
  return { store, schema, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

async function faultOf(work: Promise<unknown>): Promise<readonly [string, string]> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  const { code, message } = error as StoreError;
  expect(message).not.toContain("secret");
  return [code, message];
}

/** An address with one part changed. */
function url(change: Partial<Pick<URL, "username" | "password" | "pathname" | "port">>): string {
  return Object.assign(new URL(server.url), change).href;
}

describe("opening a PostgreSQL store", () => {
  test("by an IPv6 address asks the machine that has it", async () => {
    const [, message] = await faultOf(PostgresStore.open({ url: "postgres://u:secret@[::1]:1/db" }));
    expect(message).toContain("::1:1)");
  });

  test("with a wrong password says what to check", async () => {
    const fault = await faultOf(PostgresStore.open({ url: url({ password: "secret" }) }));
    expect(fault).toEqual(["store_denied", expect.stringContaining("check both in the URL")]);
  });

  test("in a database that is not there says how to make it", async () => {
    const fault = await faultOf(PostgresStore.open({ url: url({ pathname: "/nowhere" }) }));
    expect(fault).toEqual(["store_missing", expect.stringContaining("createdb")]);
  });

  test("where no server is says so", async () => {
    const fault = await faultOf(PostgresStore.open({ url: url({ port: "1" }) }));
    expect(fault).toEqual(["store_down", expect.stringContaining("is the server running")]);
  });

  test("without the right to says what to grant; who may use the tables need not be allowed to make them", async () => {
    await using made = await filled();
    const { schema } = made;
    await sql.unsafe("CREATE ROLE stranger LOGIN PASSWORD 'secret'");
    const own = { url: url({ username: "stranger", password: "secret" }), schema };
    expect((await faultOf(PostgresStore.open({ ...own, schema: "elsewhere" })))[0]).toBe("store_denied");
    expect(await faultOf(PostgresStore.open(own))).toEqual(["store_denied", expect.stringContaining("grant")]);
    await sql.unsafe(`GRANT USAGE ON SCHEMA ${schema} TO stranger`);
    await sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO stranger`);
    await using store = await PostgresStore.open(own);
    await charge(store, "second");
    expect((await made.store.budget("all"))?.used.steps).toBe(2);
  });

  test("of a newer Bursar changes nothing and says what to install", async () => {
    await using made = await filled();
    const { schema } = made;
    await sql.unsafe(`INSERT INTO ${schema}.migrations (version, name, at) VALUES (999, 'of the future', 0)`);
    const fault = await faultOf(PostgresStore.open({ url: server.url, schema }));
    expect(fault).toEqual(["store_schema", expect.stringMatching(/version 999.*install/)]);
  });
});

test("opening a PostgreSQL store at a server that says nothing does not wait for ever", async () => {
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const port = String((mute.address() as AddressInfo).port);
  const fault = await faultOf(PostgresStore.open({ url: url({ port }), patience_ms: 50 }));
  expect(fault).toEqual(["store_down", expect.stringContaining("is the server running")]);
  mute.close();
});

/** Something that keeps a store from writing, and how to take it away again. */
interface Trouble {
  readonly name: string;
  readonly code: string;
  readonly advice: RegExp;
  readonly begin: (schema: string) => Promise<() => Promise<unknown>>;
}

const TROUBLES: readonly Trouble[] = [
  {
    name: "that is read-only",
    code: "store_readonly",
    advice: /connect to the primary/,
    async begin() {
      await setReadOnly("on");
      return () => setReadOnly("off");
    },
  },
  {
    // As the server says it. A real disk is filled below, where one can be mounted.
    name: "whose disk is full",
    code: "store_full",
    advice: /free some space/,
    async begin(schema) {
      await sql.unsafe(`
        CREATE FUNCTION ${schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER no_room BEFORE INSERT ON ${schema}.links EXECUTE FUNCTION ${schema}.no_room()`);
      return () => sql.unsafe(`DROP TRIGGER no_room ON ${schema}.links`);
    },
  },
  {
    name: "whose commits fail at the very end",
    code: "store_failed",
    advice: /refused: no/,
    async begin(schema) {
      await sql.unsafe(`
        CREATE FUNCTION ${schema}.late() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no'; END $$;
        CREATE CONSTRAINT TRIGGER late AFTER INSERT ON ${schema}.links DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION ${schema}.late()`);
      return () => sql.unsafe(`DROP TRIGGER late ON ${schema}.links`);
    },
  },
  {
    name: "that others lock for too long",
    code: "store_locked",
    advice: /pg_stat_activity/,
    async begin(schema) {
      const other = postgres(server.url, { max: 1, onnotice: () => {} });
      await other.unsafe("BEGIN");
      await other.unsafe(`SELECT 1 FROM ${schema}.states FOR UPDATE`);
      return () => other.end();
    },
  },
  {
    name: "that is away",
    code: "store_down",
    advice: /is the server running/,
    async begin() {
      await server.crash();
      return () => server.start();
    },
  },
];

/** For every transaction that does not say otherwise, as after the primary has become a standby. */
async function setReadOnly(value: "on" | "off"): Promise<void> {
  // This can be told to a server that is read-only, too, but only outside of transactions.
  await sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await sql`SELECT pg_reload_conf()`;
  const now = async () => (await sql`SHOW default_transaction_read_only`)[0]?.default_transaction_read_only;
  while ((await now()) !== value) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a PostgreSQL store", () => {
  test.each(TROUBLES.map((trouble) => [trouble.name, trouble] as const))(
    "%s says so, loses nothing, and goes on afterwards",
    async (_name, { code, advice, begin }) => {
      await using made = await filled({ patience_ms: 300 });
      const { store, schema } = made;
      const end = await begin(schema);
      expect(await faultOf(charge(store, "second"))).toEqual([code, expect.stringMatching(advice)]);
      // Several at once share a transaction, and its failure.
      const several = ["third", "fourth"].map((call) => faultOf(charge(store, call)));
      for (const fault of await Promise.all(several)) expect(fault[0]).toBe(code);
      await end();
      for (const call of ["second", "third", "fourth"]) await chargeAtLast(store, call);
      expect((await store.budget("all"))?.used.steps).toBe(4);
      expect((await store.head("all"))?.seq).toBe(4);
    },
  );

  test("that is closed says so", async () => {
    const { store } = await filled();
    await store[Symbol.asyncDispose]();
    expect((await faultOf(charge(store, "late")))[0]).toBe("store_closed");
  });
});

describe("housekeeping on PostgreSQL, cut off in the middle", () => {
  const INSERT = "INSERT INTO sessions (id, status, body, version) VALUES ($1, 'open', '{}', 1)";

  /** Ends the connection of whoever asks, and waits until he can know. */
  async function cut(inside: Sql): Promise<void> {
    const [row] = await inside.all("SELECT pg_backend_pid() AS pid");
    await sql`SELECT pg_terminate_backend(${Number(row?.pid)}::int)`;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }

  test("says so, keeps nothing, and works again", async () => {
    await using made = await filled();
    const { schema } = made;
    await using engine = await postgresEngine({ url: server.url, schema });
    const half = engine.writing(true, async (inside) => {
      await inside.run(INSERT, ["before"]);
      await cut(inside);
      await inside.run(INSERT, ["after"]);
    });
    await expect(half).rejects.toMatchObject({ code: "store_down" });
    const lost = engine.reading(async (inside) => {
      for await (const _ of inside.rows("SELECT generate_series(1, 1000) AS n")) await cut(inside);
    });
    await expect(lost).rejects.toMatchObject({ code: "store_down" });
    expect(await engine.reading((inside) => inside.all("SELECT id FROM sessions"))).toEqual([]);
  });
});
