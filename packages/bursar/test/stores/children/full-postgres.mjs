// The same as full.mjs on a PostgreSQL server of its own, whose tables lie on a small disk and whose log does not: a server that
// cannot write its log ends, which is another trouble.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { startPostgres } from "../../../../../test/postgres/server.mjs";
import { errand } from "./common.mjs";

const { disk } = errand;
const server = await startPostgres();

const space = join(disk, "space");
mkdirSync(space);
if (process.getuid?.() === 0) execFileSync("chown", ["postgres", space]);
const { url } = server;
const sql = postgres(url, { max: 1, onnotice: () => {} });
await sql.unsafe(`CREATE TABLESPACE small LOCATION '${space}'`);
await sql.unsafe("ALTER ROLE postgres SET default_tablespace = small");
await sql.end();

errand.address = { url, schema: "small" };
errand.end = () => server[Symbol.asyncDispose]();
await import("./full.mjs");
