import { accessSync, closeSync, constants, existsSync, openSync, readSync } from "node:fs";
import { BursarError } from "../../core/errors.js";
import { StoreError } from "../durable/errors.js";

const BUSY = 5;
const LOCKED = 6;
const DAMAGED = 11;

/** What SQLite itself says for a code. The stand-in for Node 20 leaves the code out when it fails in the middle of rows. */
const MESSAGES: Readonly<Record<string, number>> = {
  "database is locked": BUSY,
  "database table is locked": LOCKED,
  "attempt to write a readonly database": 8,
  "disk I/O error": 10,
  "database disk image is malformed": DAMAGED,
  "database or disk is full": 13,
  "unable to open database file": 14,
  "file is not a database": 26,
};

/** The primary result code of SQLite, or null when the error is not SQLite's. */
function sqliteCode(error: unknown): number | null {
  const { errcode, code, message } = (error ?? {}) as { errcode?: unknown; code?: unknown; message?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  return code === "ERR_SQLITE_ERROR" && typeof message === "string" ? (MESSAGES[message] ?? null) : null;
}

export function isDamage(error: unknown): boolean {
  return sqliteCode(error) === DAMAGED;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === BUSY || code === LOCKED;
}

/** Codes for which nothing that one caller has asked for is to blame: memory, locks, the disk, the file. */
const OF_ALL = new Set([3, BUSY, LOCKED, 7, 8, 10, DAMAGED, 13, 14, 15, 26]);

/** Whether everybody would fail the same way, one by one. */
export function concernsAll(error: unknown): boolean {
  return OF_ALL.has(sqliteCode(error) ?? 0);
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
    case DAMAGED:
      return new StoreError(
        "store_damaged",
        `${path} is a SQLite file that is damaged: restore a backup, or save what is left with SQLite's own \`sqlite3 ${path} .recover\``,
        options,
      );
    case 26:
      return noDatabase(path, options);
    case 13:
      return new StoreError(
        "store_full",
        `there is no room left for ${path}: free some space, then try again; nothing acknowledged is lost`,
        options,
      );
    case 14:
      return unopened(path, options);
    case null:
      return error instanceof Error ? error : new Error(String(error));
    default:
      return new StoreError("store_failed", `SQLite refused ${path}: ${(error as Error).message}`, options);
  }
}

/** SQLite would say that it is no database; whoever has mistaken one file for another wants to know which it is. */
function noDatabase(path: string, options: ErrorOptions): StoreError {
  const what = kindOf(path);
  const help = "name the file of a store with --store, or restore a backup if it should be one; it was not changed";
  return new StoreError("store_damaged", `${path} is ${what}, and no SQLite file: ${help}`, options);
}

const HEAD_BYTES = 512;
const SQLITE_HEAD = "SQLite format 3\0";

/** What a file most likely is, by how it begins. */
function kindOf(path: string): string {
  const head = headOf(path);
  if (head === null) return "something that cannot be read";
  if (head.toString("latin1").startsWith(SQLITE_HEAD)) return "encrypted or damaged in its first page";
  if (head.includes(0)) return "a binary file of another kind";
  return head.toString("utf8").trimStart().startsWith("{") ? "a file of JSON" : "a text";
}

function headOf(path: string): Buffer | null {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const file = openSync(path, "r");
    try {
      return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** Stores are made for their owner alone, so another user who meets one must not look for what is wrong with its folder. */
function unopened(path: string, options: ErrorOptions): StoreError {
  if (existsSync(path) && !isReadable(path)) {
    const help = "work as its owner, who is the only one unless it was given free with `chmod`";
    return new StoreError("store_denied", `this user may not open ${path}: ${help}`, options);
  }
  const message = `${path} cannot be opened or created: check that its folder exists and may be written`;
  return new StoreError("store_missing", message, options);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
