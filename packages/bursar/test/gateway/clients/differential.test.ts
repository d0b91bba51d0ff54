import fc from "fast-check";
import { expect, test } from "vitest";
import { CHANGES, changed } from "../changes.js";
import { written } from "../raw.js";
import { openClients, openNode, type Read, readsIn, tell } from "./stage.js";

const BODY = `{"model":"gpt-4o"}`;
const HEADERS = ["Host: a", "X-One: a"];
const KNOWN = [
  written("POST /v1/chat/completions?a=b", [...HEADERS, `Content-Length: ${BODY.length}`], BODY),
  written(
    "POST /v1",
    [...HEADERS, "Transfer-Encoding: chunked"],
    `5\r\nhello\r\n3;a=b\r\nyou\r\n0\r\nX-Sum: 1\r\n\r\n`,
  ),
  written("GET /health", [...HEADERS, "Authorization: Bearer a"]),
  `GET / HTTP/1.0\r\nConnection: close\r\n\r\n`,
];
const LAST = written("GET /last", ["Host: b", "Connection: close"]);

test("what we take, a server of Node's takes too, and reads the same, whatever is changed in a request", async () => {
  await using us = await openClients(undefined, { request_ms: 50 });
  await using node = await openNode();
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...KNOWN), CHANGES, async (known, changes) => {
      const text = changed(known, changes);
      // It closes the connection, whatever has become of the one before.
      const both = `${text}${LAST}`;
      const ours = readsIn(await tell(us.url, [both]));
      // Methods that it does not know, Node's server refuses; and tabs beside a length, which the standard allows.
      if (ours.some(({ method }) => !/^(?:GET|POST)$/.test(method)) || /content-length:[^\r]*\t/i.test(text)) return;
      if (ours.length === 0) return;
      taken++;
      const theirs = readsIn(await tell(node.url, [both]));
      // Where one of us refuses the second, which of them are answered differs; what they are does not.
      const common = isWhole(ours) ? ours.length : Math.min(ours.length, theirs.length);
      expect(theirs.slice(0, common)).toEqual(ours.slice(0, common));
    }),
    { numRuns: 1000 },
  );
  expect(taken).toBeGreaterThan(50);
});

function isWhole(reads: readonly Read[]): boolean {
  return reads.at(-1)?.url === "/last";
}
