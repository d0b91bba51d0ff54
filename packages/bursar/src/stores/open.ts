import { homedir } from "node:os";
import type { Dimensions } from "../core/dimensions.js";
import type { Clock } from "../ports/clock.js";
import type { Store } from "../ports/store.js";
import { defaultUrl, readAddress, type StoreAddress, type Wanted } from "./address.js";
import { MemoryStore } from "./memory.js";

export interface OpenStoreOptions {
  /** The dimensions the store counts; `STANDARD` unless others are given. */
  readonly dimensions?: Dimensions;
  /** The system's clock unless another is given; for PostgreSQL, the server's. */
  readonly clock?: Clock;
}

/** What the process's surroundings make of a URL, or of none. */
export function addressOf(url?: string, wanted: Wanted = "any"): StoreAddress {
  const home = homedir();
  // Only nothing at all means the user's own store: a null is a setting that somebody has forgotten.
  const given = url === undefined ? defaultUrl({ platform: process.platform, env: process.env, home }) : url;
  return readAddress(given, home, wanted);
}

/**
 * Opens the store a URL names: `sqlite:x.db`, `postgres://user@host/database?schema=name` or `memory:`. Without a URL it is
 * the one in `BURSAR_STORE`, else a file where the platform keeps a user's data. Only the driver that is needed is loaded.
 *
 * @example
 * ```ts
 * await using store = await openStore("sqlite:bursar.db");
 * const gate = new Gate({ store });
 * ```
 *
 * @throws {StoreError} when the URL makes no sense or the store cannot be opened; the message says what to do.
 */
export async function openStore(url?: string, options: OpenStoreOptions = {}): Promise<Store> {
  return openAt(addressOf(url), options);
}

export async function openAt(address: StoreAddress, options: OpenStoreOptions = {}): Promise<Store> {
  switch (address.engine) {
    case "memory":
      return new MemoryStore(options);
    case "sqlite": {
      const { SqliteStore } = await import("./sqlite/sqlite.js");
      return SqliteStore.open({ path: address.path, ...options });
    }
    case "postgres": {
      const { PostgresStore } = await import("./postgres/postgres.js");
      return PostgresStore.open({ url: address.url, schema: address.schema, ...options });
    }
  }
}
