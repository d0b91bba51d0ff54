import { expect, test } from "vitest";
import { forwarded } from "../../src/gateway/headers.js";

test("by which header the provider knows the gateway is not for a client to say", () => {
  const headers = {
    "x-provider-key": "the client's",
    authorization: "Bearer the client's",
    "accept-encoding": "br",
    a: "b",
  };
  expect(forwarded(headers, { "x-provider-key": "ours" })).toEqual({
    "x-provider-key": "ours",
    "accept-encoding": "identity",
    a: "b",
  });
});
