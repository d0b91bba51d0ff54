import { BursarError } from "../../core/errors.js";
import { StoreError } from "../durable/errors.js";

/** Codes of the driver and of the machine for a server that is not there, or went away in the middle. */
const AWAY = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  // The server is being shut down, has crashed, is starting up, or has no connection left.
  "57P01",
  "57P02",
  "57P03",
  "53300",
]);

/** Two transactions were in each other's way, or somebody else was first. Nothing was written. */
const CLASHES = new Set(["23505", "40001", "40P01"]);

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

/** The server could not be reached, or went away: whether it has done what it was asked is not known. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return AWAY.has(code) || code.startsWith("08");
}

/** Nothing that one caller has asked for is to blame: no room, no writes, a lock that is not given up, a server that stops. */
export function concernsAll(error: unknown): boolean {
  return isAway(error) || /^(?:25|53|55|57)/.test(codeOf(error));
}

/** It did not get the locks it needed, so it has not even seen what the others were about to do. */
export function gotNoLock(error: unknown): boolean {
  return codeOf(error) === "40P01" || codeOf(error) === "55P03";
}

export function isClash(error: unknown): boolean {
  return CLASHES.has(codeOf(error));
}

/** What went wrong, and what can be done about it. `server` must not hold a password. */
export function explain(error: unknown, server: string): Error {
  if (error instanceof BursarError) return error;
  const options = { cause: error };
  const said = (error as Error).message;
  const code = codeOf(error);
  if (code === "28P01" || code === "28000") {
    return new StoreError(
      "store_denied",
      `${server} does not accept this user and password: check both in the URL`,
      options,
    );
  }
  if (code === "3D000") {
    return new StoreError(
      "store_missing",
      `${server} has no such database: make it with \`createdb\`, or mend the URL`,
      options,
    );
  }
  if (code === "42501") {
    return new StoreError(
      "store_denied",
      `${server} does not let this user do that: grant it CREATE on the schema (${said})`,
      options,
    );
  }
  if (code === "25006") {
    return new StoreError("store_readonly", `${server} takes no writes: connect to the primary server`, options);
  }
  if (code === "53100" || code === "53200") {
    return new StoreError(
      "store_full",
      `${server} has no room left (${said}): free some space, then try again`,
      options,
    );
  }
  if (code === "55P03") {
    return new StoreError(
      "store_locked",
      `rows of ${server} have been locked by somebody else for too long: end who holds them (pg_stat_activity names them), then try again`,
      options,
    );
  }
  if (isAway(error)) {
    return new StoreError(
      "store_down",
      `${server} cannot be reached (${said || code}): is the server running, and is the URL right?`,
      options,
    );
  }
  return error instanceof Error && code !== ""
    ? new StoreError("store_failed", `${server} refused: ${said}`, options)
    : (error as Error);
}
