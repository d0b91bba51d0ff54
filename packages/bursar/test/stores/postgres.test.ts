import { PostgresStore } from "bursar/postgres";
import postgres from "postgres";
import { afterAll, describe, test } from "vitest";
import { describeStore } from "../../src/testing/describe-store.js";
import { givenServer } from "./server.js";

const server = await givenServer();
const prefix = `kit_${process.pid}_`;
let schemas = 0;
afterAll(async () => {
  const sql = postgres(server.url, { onnotice: () => {} });
  for (let at = 0; at < schemas; at++) await sql.unsafe(`DROP SCHEMA ${prefix}${at} CASCADE`);
  await sql.end();
  await server[Symbol.asyncDispose]();
});

describeStore(
  "PostgreSQL store",
  (options) => PostgresStore.open({ url: server.url, schema: `${prefix}${schemas++}`, connections: 1, ...options }),
  { describe, test },
);
