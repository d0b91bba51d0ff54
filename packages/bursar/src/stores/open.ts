import { homedir } from "node:os";
import type { Dimensions } from "../core/dimensions.js";
import type { Clock } from "../ports/clock.js";
import type { Store } from "../ports/store.js";
import { defaultUrl, readAddress, type StoreAddress } from "./address.js";
import { MemoryStore } from "./memory.js";

export interface OpenStoreOptions {
  readonly dimensions?: Dimensions;
  readonly clock?: Clock;
}

/** What the process's surroundings make of a URL, or of none. */
export function addressOf(url?: string): StoreAddress {
  const home = homedir();
  return readAddress(url ?? defaultUrl({ platform: process.platform, env: process.env, home }), home);
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
