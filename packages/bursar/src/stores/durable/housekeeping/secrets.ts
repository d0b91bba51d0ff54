import { digestOf } from "../../../runtime/secret.js";
import { SERVER_CHAIN } from "../../../runtime/server-chain.js";
import type { Registrations } from "./books-check.js";
import type { Defects } from "./defect.js";
import type { Sql, SqlRow } from "./port.js";
import type { Registration } from "./rebuilt-chain.js";

const TABLES = [
  ["keys", "key", ["label", "expires", "rotating_until"]],
  ["tokens", "token", ["name", "role", "created", "expires"]],
] as const;

/** Compares the keys of the gateway and the tokens of the server with what the server's chain records of each. Gives back how many there are. */
export async function checkSecrets(sql: Sql, defects: Defects, known: Registrations | null): Promise<number> {
  let count = 0;
  const [head] = await sql.all("SELECT archived FROM heads WHERE chain = $1", [SERVER_CHAIN]);
  // A chain that is broken, or in a file, says nothing here; one that is not there records no key.
  const isSilent = known === null && head !== undefined;
  for (const [table, what, members] of TABLES) {
    const left = new Set(known?.[table].keys());
    for await (const row of sql.rows(`SELECT * FROM ${table} ORDER BY id`)) {
      count++;
      const id = String(row.id);
      left.delete(id);
      const problem = isSilent ? null : problemOf(row, known?.[table].get(id), members);
      if (problem !== null) defects.add("error", `${what} ${id}`, problem);
    }
    for (const id of left) defects.add("error", `${what} ${id}`, "is not there, but the server's chain records it");
  }
  return count;
}

function problemOf(row: SqlRow, recorded: Registration | undefined, members: readonly string[]): string | null {
  if (recorded === undefined) return "is in the store, but the server's chain does not record that it was made";
  const { status, changes, said } = recorded;
  let body: Readonly<Record<string, unknown>>;
  try {
    body = JSON.parse(String(row.body));
  } catch {
    return "has a row that cannot be read";
  }
  const pairs: (readonly [string, unknown, unknown])[] = members.map((name) => [name, body[name], said[name]]);
  pairs.push(["status", row.status, status], ["changes", Number(row.version), changes]);
  if (said.budget !== undefined) pairs.push(["budget", row.budget, said.budget]);
  for (const [name, store, chain] of pairs) {
    if (store === chain) continue;
    return `${name} is ${JSON.stringify(store)} in the store, ${JSON.stringify(chain)} by the server's chain`;
  }
  // Links of older versions do not say it.
  if (said.secret_digest === undefined) return null;
  const previous = typeof body.previous_hash === "string" ? body.previous_hash : null;
  const isSame = digestOf(String(body.hash), previous) === said.secret_digest;
  return isSame ? null : "has another secret than the one that the server's chain records";
}
