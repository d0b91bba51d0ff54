import postgres, { type Sql } from "postgres";
import { MIGRATIONS_TABLE, pending } from "../durable/schema.js";
import { DOCUMENT_FUNCTIONS } from "./document-functions.js";
import { FUNCTIONS } from "./functions.js";

export type Server = Sql<{ bigint: number }>;

const DIALECT = { serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY" };

/** Statements that only this engine needs, by the version of the tables they came with. */
const EXTRA: Readonly<Record<number, readonly string[]>> = { 1: [...DOCUMENT_FUNCTIONS, ...FUNCTIONS] };

export interface Address {
  readonly url: string;
  /** The schema in which the tables stand, so that they do not mix with anybody else's. */
  readonly schema: string;
}

export function connect({ url, schema }: Address, connections: number): Server {
  return postgres(url, {
    max: connections,
    connect_timeout: 5,
    // A server that comes back is found again at once.
    backoff: () => 0.1,
    idle_timeout: 60,
    onnotice: () => {},
    connection: { application_name: "bursar", search_path: schema },
    // Versions, positions and counts are all far below 2^53.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
}

/** Makes the tables and functions, or brings them up to date; several processes may do so at the same time. */
export async function migrate(server: Server, schema: string, instant: number): Promise<void> {
  await server.begin(async (transaction) => {
    // Whoever is second waits here for the first, and then finds everything done.
    await transaction.unsafe(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    await transaction.unsafe(MIGRATIONS_TABLE);
    await transaction.unsafe("LOCK TABLE migrations IN EXCLUSIVE MODE");
    const [row] = await transaction.unsafe("SELECT coalesce(max(version), 0) AS version FROM migrations");
    for (const { version, name, statements } of pending(Number(row?.version ?? 0), DIALECT)) {
      for (const statement of [...statements, ...(EXTRA[version] ?? [])]) await transaction.unsafe(statement);
      await transaction.unsafe("INSERT INTO migrations (version, name, at) VALUES ($1, $2, $3)", [
        version,
        name,
        instant,
      ]);
    }
  });
}

/** The address without its password, for messages. */
export function serverName(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `the PostgreSQL server ${hostname || "localhost"}${port === "" ? "" : `:${port}`}${pathname}`;
  } catch {
    return "the PostgreSQL server";
  }
}
