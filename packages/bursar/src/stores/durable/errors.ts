import { BursarError } from "../../core/errors.js";

/**
 * What can be wrong with a store.
 * - `store_url`: its URL makes no sense.
 * - `store_missing`: there is none at that place, or what is needed to open it is not there.
 * - `store_denied`: this user, or this user and password, may not.
 * - `store_readonly`: it takes no writes.
 * - `store_locked`: somebody else has held it for longer than we wait.
 * - `store_full`: there is no room left.
 * - `store_damaged`: what is there is no sound store, export or backup.
 * - `store_schema`: its tables are a newer Bursar's, or another program's.
 * - `store_down`: the server cannot be reached.
 * - `store_closed`: it was closed here.
 * - `store_archived`: the lines that were asked for are in a file, or were dropped by a store in memory.
 * - `store_filled`: what has to be empty, or not there yet, is not.
 * - `store_failed`: anything else.
 */
export type StoreFault =
  | "store_url"
  | "store_missing"
  | "store_denied"
  | "store_readonly"
  | "store_locked"
  | "store_full"
  | "store_damaged"
  | "store_schema"
  | "store_down"
  | "store_closed"
  | "store_archived"
  | "store_filled"
  | "store_failed";

/** A store that cannot be opened or used right now. The message says what to do; nothing acknowledged is lost. */
export class StoreError extends BursarError {
  override readonly name: string = "StoreError";
  override readonly code: StoreFault;

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(fault, message, options);
    this.code = fault;
  }
}

/**
 * Throws when lines that are asked for are in a file now: to give none would look like a chain without links. The head is
 * still in the store, and the file verifies against it.
 */
export function refuseArchived(
  chain: string,
  from: number,
  head: { readonly seq: number; readonly archived: string | null } | undefined,
): void {
  const file = head?.archived ?? null;
  if (head === undefined || file === null || from > head.seq) return;
  throw new StoreError(
    "store_archived",
    `the chain ${chain} was archived: its lines are in the file ${file}, which \`bursar verify\` checks`,
  );
}

/** What to say of a file of which the machine does not even tell whether it is there. */
export function unseen(path: string, cause: unknown): StoreError {
  const code = String((cause as { code?: unknown } | null)?.code ?? "unknown");
  const help = "check its path, and that this user may enter its folder";
  return new StoreError("store_denied", `${path} cannot be looked at (${code}): ${help}`, { cause });
}
