import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UpstreamClient } from "../../../src/gateway/upstream-client.js";
import { isUnsent } from "../../../src/models/meter/answer-status.js";
import { ask, openRawServer, PATIENT, type Question, said } from "./raw-server.js";

/** What arrives at a provider, as latin1. */
async function arrived(question: Question, path = "/v1/ask?a=b"): Promise<string> {
  const texts: string[] = [];
  await using server = await openRawServer(({ socket, text }) => {
    texts.push(text);
    socket.write(said(""));
  });
  using client = new UpstreamClient(PATIENT);
  await ask(client, new URL(path, server.url), question);
  return texts.join("").replaceAll(String(server.port), "PORT");
}

describe("a request", () => {
  test("is written with its address, its length and its headers, and nothing else", async () => {
    const headers = { accept: "a", "x-list": ["1", "2"], "x-empty": "" };
    expect(await arrived({ headers, body: '{"a":"ü€"}' })).toBe(
      [
        "POST /v1/ask?a=b HTTP/1.1",
        "host: 127.0.0.1:PORT",
        "connection: keep-alive",
        "accept: a",
        "x-list: 1",
        "x-list: 2",
        "x-empty: ",
        "content-length: 13",
        "",
        Buffer.from('{"a":"ü€"}').toString("latin1"),
      ].join("\r\n"),
    );
  });

  test("without a body has no length", async () => {
    expect(await arrived({ body: null }, "/v1/models")).toBe(
      "GET /v1/models HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\nconnection: keep-alive\r\n\r\n",
    );
  });

  test("with an empty body says so", async () => {
    expect(await arrived({ body: "" })).toContain("\r\ncontent-length: 0\r\n\r\n");
  });

  test("has headers in latin1 and a body in UTF-8, whatever is in them", async () => {
    const text = await arrived({ headers: { "x-name": "J\xfcrgen" }, body: "Jürgen €" });
    expect(text).toContain("\r\nx-name: J\xfcrgen\r\n");
    expect(Buffer.from(text.split("\r\n\r\n")[1] ?? "", "latin1").toString("utf8")).toBe("Jürgen €");
    for (const body of [null, "Jurgen"]) {
      const bare = await arrived({ headers: { "x-name": "J\xfcrgen" }, body });
      expect(bare).toContain("\r\nx-name: J\xfcrgen\r\n");
      expect(bare.endsWith(`\r\n\r\n${body ?? ""}`)).toBe(true);
    }
  });

  test("arrives as it was, however long it is", async () => {
    const body = "0123456789ü".repeat(1_000_000);
    const text = await arrived({ body });
    expect(Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1").toString("utf8") === body).toBe(true);
  });

  test.each<[string, Record<string, string | string[]>]>([
    ["an end of a line in a value", { "x-one": "a\r\nhost: b" }],
    ["a feed in a value", { "x-one": "a\nb" }],
    ["a return in a value", { "x-one": "a\rb" }],
    ["a zero in a value", { "x-one": "a\0b" }],
    ["a feed in one of several values", { "x-one": ["a", "b\nc"] }],
    ["a letter that latin1 does not have", { "x-one": "€" }],
    ["an end of a line in a name", { "x-one: a\r\nhost": "b" }],
    ["a blank in a name", { "x one": "a" }],
    ["a colon in a name", { "x:one": "a" }],
    ["a letter of no name in a name", { "x-\xfcne": "a" }],
    ["an empty name", { "": "a" }],
    ["a coding", { "transfer-encoding": "chunked" }],
    ["an expectation", { expect: "100-continue" }],
  ])("with %s is not sent", async (_, headers) => {
    await using server = await openRawServer(({ socket }) => socket.write(said("")));
    using client = new UpstreamClient(PATIENT);
    const error = await ask(client, server.url, { headers }).catch((each: unknown) => each);
    expect(error).toMatchObject({ code: "invalid_header" });
    expect(isUnsent(error, null)).toBe(true);
    expect(server.seen.connections).toBe(0);
  });

  test("has as many lines as it has headers, or is not sent, whatever is in them", async () => {
    const texts: string[] = [];
    await using server = await openRawServer(({ socket, text }) => {
      texts.push(text);
      socket.write(said(""));
    });
    using client = new UpstreamClient(PATIENT);
    const some = fc.string({
      unit: fc.constantFrom("a", "B", "-", ":", " ", "\t", "\r", "\n", "\0", "ü", "€", "\x7f"),
    });
    const name = some.map((text) => `x${text}`);
    await fc.assert(
      fc.asyncProperty(name, some, async (each, value) => {
        texts.length = 0;
        const isSent = await ask(client, server.url, { headers: { [each]: value }, body: null }).then(
          () => true,
          (error: unknown) => !isUnsent(error, null),
        );
        const lines = texts.join("").split("\r\n");
        expect(lines.length).toBe(isSent ? 6 : 1);
        if (isSent) expect(lines[3]).toBe(`${each}: ${value}`);
      }),
    );
  });
});
