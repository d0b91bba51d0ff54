import { isClosed } from "./closed-address.js";

/** What a status of HTTP says about whether anything was computed. */
const NOT_COMPUTED: ReadonlySet<number> = new Set([503, 529]);
/** Said after the request was read, these may come when something has been computed. */
const UNSURE: ReadonlySet<number> = new Set([408, 409, 499]);

/** Whether an answer with this status certainly costs nothing: the provider has said no, or had no room. */
export function isFree(status: number): boolean {
  return NOT_COMPUTED.has(status) || (status >= 400 && status < 500 && !UNSURE.has(status));
}

/**
 * The same where the request may have been sent before, and nobody has seen it: only what is wrong with the request itself was wrong
 * with it each time. A provider that has no room, or asks to wait, may have computed an answer a moment ago.
 */
export function isFreeEachTime(status: number): boolean {
  return isFree(status) && !NOT_COMPUTED.has(status) && status !== 429;
}

/** Nothing was sent when a connection fails like this: nobody was there, or nobody who could prove who he is. */
const UNSENT: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  // A dispatcher of another version of undici does not take what the global fetch gives it.
  "UND_ERR_INVALID_ARG",
  // The gateway's own, whatever the reason is.
  "connect_failed",
  "connect_timeout",
  "invalid_header",
  "given_up",
]);

/**
 * Whether a failure came before anything was sent. `fetch` hides what happened behind its own error. `address` is where it was to go;
 * null where that is not known.
 */
export function isUnsent(error: unknown, address: string | null): boolean {
  return isUnsentWithin(error, address, 5);
}

/** By its shape, because an error may come from another realm, as in a test runner's. */
function isUnsentWithin(error: unknown, address: string | null, depth: number): boolean {
  if (typeof error !== "object" || error === null || depth < 0) return false;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  // Several addresses were tried: all of them have to have failed like this.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((one) => isUnsentWithin(one, address, depth - 1));
  if (UNSENT.has(code) || (address !== null && isClosed(address, error))) return true;
  return isUnsentWithin(cause, address, depth - 1);
}
