import { HttpError } from "./http-error.js";

/** For those who ask more often than they may. */
export function tooOften(wait_ms: number): HttpError {
  const seconds = Math.max(1, Math.ceil(wait_ms / 1000));
  const headers = { "retry-after": String(seconds) };
  const message = "this is asked too often";
  return new HttpError(429, { code: "too_often", message, hint: `try again in ${seconds} s`, headers });
}
