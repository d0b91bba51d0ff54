import { expect, test } from "vitest";
import { isFree, isUnsent } from "../../../src/models/meter/answer-status.js";

test.each([400, 401, 402, 403, 404, 413, 422, 429, 503, 529])("%d says that nothing was computed", (status) => {
  expect(isFree(status)).toBe(true);
});

test.each([0, 200, 204, 302, 304, 408, 409, 499, 500, 502, 504, 520])("%d does not", (status) => {
  expect(isFree(status)).toBe(false);
});

function coded(code: string, more: object = {}): Error {
  return Object.assign(new Error("no"), { code }, more);
}

test("a failure is looked at through what wraps it", () => {
  for (const code of ["ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED"]) {
    expect(isUnsent(new TypeError("fetch failed", { cause: coded(code) }))).toBe(true);
  }
  expect(isUnsent(new Error("a", { cause: new Error("b", { cause: coded("ECONNREFUSED") }) }))).toBe(true);
  // As it comes from another realm, where an error is no instance of ours.
  expect(isUnsent({ cause: { code: "ECONNREFUSED" } })).toBe(true);
});

test("what may have been sent is not unsent", () => {
  for (const code of ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"]) {
    expect(isUnsent(new TypeError("fetch failed", { cause: coded(code) }))).toBe(false);
  }
  for (const nothing of [null, undefined, "ECONNREFUSED", 7, {}, new Error("no")])
    expect(isUnsent(nothing)).toBe(false);
});

test("of several addresses all have to have failed before anything was sent", () => {
  const refused = coded("ECONNREFUSED");
  const reset = coded("ECONNRESET");
  // Node gives the whole the code of its first part.
  const both = (errors: Error[]) => Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });
  expect(isUnsent(new TypeError("fetch failed", { cause: both([refused, refused]) }))).toBe(true);
  expect(isUnsent(new TypeError("fetch failed", { cause: both([refused, reset]) }))).toBe(false);
});

test("an error that is its own cause ends the search", () => {
  const error = new Error("no");
  error.cause = error;
  expect(isUnsent(error)).toBe(false);
});
