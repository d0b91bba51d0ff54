import { BursarError } from "../../core/errors.js";

/** What can be wrong with a store. */
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

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(fault, message, options);
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
