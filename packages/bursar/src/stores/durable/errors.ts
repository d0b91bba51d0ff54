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

/** A chain whose lines are in a file now. Its head is still in the store, and the file verifies against it. */
export function archived(chain: string, file: string): StoreError {
  return new StoreError(
    "store_archived",
    `the chain ${chain} was archived: its lines are in the file ${file}; \`bursar verify ${file}\` checks them`,
  );
}
