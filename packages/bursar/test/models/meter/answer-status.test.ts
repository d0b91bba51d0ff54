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
  const codes = ["ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED"];
  for (const code of [...codes, "connect_failed", "connect_timeout", "invalid_header"]) {
    expect(isUnsent(new TypeError("fetch failed", { cause: coded(code) }), null)).toBe(true);
  }
  expect(isUnsent(new Error("a", { cause: new Error("b", { cause: coded("ECONNREFUSED") }) }), null)).toBe(true);
  // As it comes from another realm, where an error is no instance of ours.
  expect(isUnsent({ cause: { code: "ECONNREFUSED" } }, null)).toBe(true);
});

test("what may have been sent is not unsent", () => {
  for (const code of [
    "ECONNRESET",
    "EPIPE",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "ETIMEDOUT",
    "connection_lost",
  ]) {
    expect(isUnsent(new TypeError("fetch failed", { cause: coded(code) }), null)).toBe(false);
  }
  for (const nothing of [null, undefined, "ECONNREFUSED", 7, {}, new Error("no")])
    expect(isUnsent(nothing, null)).toBe(false);
});

test("of several addresses all have to have failed before anything was sent", () => {
  const refused = coded("ECONNREFUSED");
  const reset = coded("ECONNRESET");
  // Node gives the whole the code of its first part.
  const both = (errors: Error[]) => Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });
  expect(isUnsent(new TypeError("fetch failed", { cause: both([refused, refused]) }), null)).toBe(true);
  expect(isUnsent(new TypeError("fetch failed", { cause: both([refused, reset]) }), null)).toBe(false);
});

test("an error that is its own cause ends the search", () => {
  const error = new Error("no");
  error.cause = error;
  expect(isUnsent(error, null)).toBe(false);
});

const OPEN = "http://127.0.0.1:8080/v1";

test.each([
  ["http://127.0.0.1:1/v1", "bad port"],
  ["https://provider.example:6667/v1", "bad port"],
  ["file:///v1", "not implemented... yet..."],
  ["ws://provider.example/v1", "unknown scheme"],
])("nothing is sent to %s: %s", async (address, reason) => {
  const error = await fetch(address, { method: "POST", body: "{}" }).catch((each: unknown) => each);
  expect(error).toMatchObject({ cause: { message: reason } });
  expect(isUnsent(error, address)).toBe(true);
  expect(isUnsent(error, null)).toBe(false);
  // Who was sent something may lead on to such an address.
  expect(isUnsent(error, OPEN)).toBe(false);
  // Somebody else's fetch may have sent it there, whatever happened then.
  for (const other of ["terminated", "other side closed"]) {
    expect(isUnsent(new TypeError("fetch failed", { cause: new Error(other) }), address)).toBe(false);
  }
  expect(isUnsent(new TypeError("fetch failed", { cause: coded("UND_ERR_SOCKET") }), address)).toBe(false);
});

test("what fails for one reason is not believed of an address that would have failed for another", () => {
  const failed = (reason: string) => new TypeError("fetch failed", { cause: new Error(reason) });
  expect(isUnsent(failed("unknown scheme"), "http://127.0.0.1:1/v1")).toBe(false);
  expect(isUnsent(failed("bad port"), "file:///v1")).toBe(false);
  expect(isUnsent(failed("bad port"), "no address")).toBe(false);
});
