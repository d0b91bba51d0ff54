import { BursarError } from "../../core/errors.js";
import { StoreError } from "../durable/errors.js";

const BUSY = 5;
const LOCKED = 6;

/** The primary result code of SQLite, or null when the error is not SQLite's. */
export function sqliteCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : null;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

/** What went wrong with the file, and what its owner can do. */
export function explain(error: unknown, path: string): Error {
  if (error instanceof BursarError) return error;
  const options = { cause: error };
  switch (sqliteCode(error)) {
    case 3:
      return new StoreError("store_denied", `${path} may not be opened: check its permissions and its owner`, options);
    case BUSY:
    case LOCKED:
      return new StoreError(
        "store_locked",
        `${path} has been locked by another process for too long: end the process that holds it (\`fuser ${path}\` names it), then try again`,
        options,
      );
    case 8:
      return new StoreError(
        "store_readonly",
        `${path} cannot be written: make the file and its folder writable for this user; SQLite writes ${path}-wal beside it`,
        options,
      );
    case 10:
      return new StoreError(
        "store_failed",
        `reading or writing ${path} failed: check the disk, its room and your quota, then try again; nothing acknowledged is lost`,
        options,
      );
    case 11:
    case 26:
      return new StoreError(
        "store_damaged",
        `${path} is not a sound SQLite file: restore a backup, or try \`bursar store check\` to see what is left`,
        options,
      );
    case 13:
      return new StoreError(
        "store_full",
        `there is no room left for ${path}: free some space, then try again; nothing acknowledged is lost`,
        options,
      );
    case 14:
      return new StoreError(
        "store_missing",
        `${path} cannot be opened or created: check that its folder exists and may be written`,
        options,
      );
    case null:
      return error instanceof Error ? error : new Error(String(error));
    default:
      return new StoreError("store_failed", `SQLite refused ${path}: ${(error as Error).message}`, options);
  }
}
