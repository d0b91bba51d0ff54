import postgres, { type Sql } from "postgres";
import { checkServer } from "../address.js";
import { StoreError } from "../durable/errors.js";
import { MIGRATIONS_TABLE, type Migration, pending } from "../durable/schema.js";
import { DOCUMENT_FUNCTIONS } from "./document-functions.js";
import { isClash } from "./faults.js";
import { FUNCTIONS } from "./functions.js";
import type { Asking, Line } from "./pool.js";
import { quietSocket } from "./quiet-socket.js";
import { PLANS, STORAGE } from "./storage.js";

export type Server = Sql<{ bigint: number }>;

const DIALECT = { serial: "BIGINT GENERATED ALWAYS AS IDENTITY", name: 'TEXT COLLATE "C"' };

/** Statements that only this engine needs, by the version of the tables they came with. */
const EXTRA: Readonly<Record<number, readonly string[]>> = {
  1: [...STORAGE, ...PLANS],
  // Functions replace those of the versions before, and come last, when all the tables they read are there.
  5: [...DOCUMENT_FUNCTIONS, ...FUNCTIONS],
};

export interface Address {
  readonly url: string;
  /** The schema in which the tables stand, so that they do not mix with anybody else's. */
  readonly schema: string;
}

export interface ConnectOptions {
  /** How long a statement waits for somebody else's lock before it fails; without it, for good. */
  readonly lock_ms?: number;
  /** Told when the connection was lost. */
  readonly onclose?: () => void;
  /** Whether the connection is kept however long it rests. */
  readonly lasting?: boolean;
  /** Whether it lets the process end while it is open. */
  readonly quiet?: boolean;
}

/** One connection, made when it is first needed, and again after it was lost. */
export function connect(address: Address, options: ConnectOptions = {}): Server {
  checkServer(address.url);
  try {
    return driven(address, options);
  } catch {
    // Without the cause: an error about a URL carries the whole URL with it.
    throw new StoreError("store_url", "the URL of the store cannot be used: check its host and its parameters");
  }
}

function driven(
  { url, schema }: Address,
  { lock_ms = 0, onclose = () => {}, lasting = false, quiet = false }: ConnectOptions,
): Server {
  return postgres(url, {
    ...numbered(url),
    max: 1,
    connect_timeout: 5,
    // A server that comes back is found again at once.
    backoff: () => 0.1,
    onclose,
    ...(lasting || quiet ? { idle_timeout: 0, max_lifetime: null } : { idle_timeout: 60 }),
    ...(quiet && { socket: quietSocket }),
    onnotice: () => {},
    // The driver looks for types of arrays on each new connection; if that is cut just then, the process goes down with it.
    fetch_types: false,
    connection: {
      application_name: "bursar",
      search_path: schema,
      lock_timeout: lock_ms,
      standard_conforming_strings: true,
      // Rows are always looked up by name. A planner that has seen the tables small would go through all of them instead,
      // and keep to it for a while after they have grown.
      enable_seqscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off",
    },
    // Versions, positions and counts are all far below 2^53.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  });
}

/** The driver takes the first colon of an IPv6 address for the one before the port, unless both are given as lists, which its types leave out. */
function numbered(url: string): { host: string; port: number } | undefined {
  const [, host, port = 5432] = /^[^:]*:\/\/(?:[^/@]*@)?\[([0-9a-f:.]+)\](?::(\d+))?(?:[/?]|$)/i.exec(url) ?? [];
  if (host === undefined) return undefined;
  return { host: [host], port: [Number(port)] } as unknown as { host: string; port: number };
}

/** Makes the tables and functions, or brings them up to date; several processes may do so at the same time. */
export async function migrate(server: Line, schema: string, instant: number): Promise<void> {
  for (;;) {
    const version = await versionOf(server, schema);
    const [next] = pending(version, DIALECT);
    if (next === undefined) return;
    try {
      await server.script(script(next, version, schema, instant));
    } catch (error) {
      // Somebody else was first.
      if (!isClash(error)) throw error;
    }
  }
}

/** The version of the tables, 0 when there are none. Who may only use them needs no right to make them. */
export async function versionOf(server: Asking, schema: string): Promise<number> {
  const [found] = await server.ask("SELECT to_regclass($1) IS NOT NULL AS there", [`"${schema}".migrations`]);
  if (found?.there !== true) return 0;
  const [row] = await server.ask("SELECT coalesce(max(version), 0) AS version FROM migrations");
  return Number(row?.version ?? 0);
}

/** One step in one message, and so in one transaction, even if the connection is cut in the middle. */
function script({ version, name, statements }: Migration, before: number, schema: string, instant: number): string {
  return [
    // Whoever is second waits here for the first, and then finds it done.
    "SELECT pg_advisory_xact_lock(hashtext('bursar'), hashtext('migrations'))",
    `CREATE SCHEMA IF NOT EXISTS "${schema}"`,
    MIGRATIONS_TABLE,
    `DO $guard$ BEGIN
      IF (SELECT coalesce(max(version), 0) FROM migrations) <> ${before} THEN
        RAISE EXCEPTION 'somebody else was faster' USING ERRCODE = 'serialization_failure';
      END IF;
    END $guard$`,
    ...statements,
    ...(EXTRA[version] ?? []),
    `INSERT INTO migrations (version, name, at) VALUES (${version}, ${quoted(name)}, ${instant})`,
  ].join(";\n");
}

/** A text inside a statement, for where parameters cannot be. Backslashes mean nothing special there, see `connect`. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
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
