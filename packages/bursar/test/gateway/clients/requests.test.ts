import { describe, expect, test } from "vitest";
import { openRaw, readRaw, written } from "../raw.js";
import { until } from "../until.js";
import { connectedTo, openClients, readIn, readsIn, tell } from "./stage.js";

const CLOSE = "Connection: close";
const HOST = "Host: a";
const BODY = `{"model":"gpt-4o"}`;
const LENGTH = `Content-Length: ${BODY.length}`;
const CHUNKS = `5\r\n${BODY.slice(0, 5)}\r\nd;a="b;c"\r\n${BODY.slice(5)}\r\n0\r\nX-Sum: 1\r\n\r\n`;
const POST = written("POST /v1/chat/completions?a=b", [HOST, CLOSE, LENGTH], BODY);
const CHUNKED = written("POST /v1", [HOST, CLOSE, "Transfer-Encoding: chunked"], CHUNKS);
const GET = written("GET /health", [HOST, CLOSE]);

describe("a request", () => {
  test.each([
    ["with a length", POST, { method: "POST", url: "/v1/chat/completions?a=b", body: BODY }],
    ["in chunks", CHUNKED, { method: "POST", url: "/v1", body: BODY }],
    ["without a body", GET, { method: "GET", url: "/health", body: "" }],
    ["behind the end of a line", `\r\n${GET}`, { method: "GET", body: "" }],
    ["to a whole address", GET.replace("/health", "http://b/health"), { url: "http://b/health" }],
    ["in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", { method: "GET", url: "/" }],
  ])("%s is read", async (_name, text, read) => {
    await using at = await openClients();
    expect(readIn(await tell(at.url, [text]))).toMatchObject(read);
  });

  test.each([
    ["with a length", POST],
    ["in chunks", CHUNKED],
  ])("%s is the same wherever it is split, and byte by byte", async (_name, text) => {
    await using at = await openClients();
    const whole = readIn(await tell(at.url, [text]));
    expect(whole).not.toBeNull();
    const places = Array.from({ length: text.length - 1 }, (_, place) => place + 1);
    const split = await Promise.all(places.map((place) => tell(at.url, [text.slice(0, place), text.slice(place)])));
    for (const answer of split) expect(readIn(answer)).toEqual(whole);
    expect(readIn(await tell(at.url, [...text]))).toEqual(whole);
  });

  test("behind the end of a line is read, wherever that is split", async () => {
    await using at = await openClients();
    for (const pieces of [
      ["\r", `\n${GET}`],
      ["\r", "\n", GET],
      ["\r\n\r", "\n", "\r\n", GET],
    ]) {
      using connection = await openRaw(at.url);
      let come = 0;
      for (const piece of pieces) {
        connection.write(piece);
        come += piece.length;
        // One by one for certain, and not as the system likes.
        await until("it has come", () => (connectedTo(at.clients)[0]?.bytesRead ?? come) >= come);
      }
      expect(readIn(await connection.closed)).toMatchObject({ url: "/health" });
      await until("it is gone", () => connectedTo(at.clients).length === 0);
    }
  });

  test("behind others in chunks is read, wherever they are split", async () => {
    await using at = await openClients();
    const chunks = "3\r\nabc\r\n0\r\n\r\n";
    const posts = ["/1", "/2"].map((path) => written(`POST ${path}`, [HOST, "Transfer-Encoding: chunked"], chunks));
    const text = `${posts.join("")}${GET}`;
    const places = Array.from({ length: text.length - 1 }, (_, place) => place + 1);
    const split = await Promise.all(places.map((place) => tell(at.url, [text.slice(0, place), text.slice(place)])));
    const whole = [
      ["/1", "abc"],
      ["/2", "abc"],
      ["/health", ""],
    ];
    for (const answer of split) expect(readsIn(answer).map(({ url, body }) => [url, body])).toEqual(whole);
  });

  test("with a head that is as long as it may be is read byte by byte, and a longer one is refused", async () => {
    await using at = await openClients(undefined, { header_bytes: 4096 });
    const value = "a".repeat(3900);
    const read = readIn(await tell(at.url, [...written("GET /", [HOST, CLOSE, `X-A: ${value}`])]));
    expect(read?.headers).toMatchObject({ "x-a": value });
    const longer = await tell(at.url, [...written("GET /", [HOST, CLOSE, `X-A: ${"a".repeat(4200)}`])]);
    expect(readRaw(longer).status).toBe(431);
  });

  test("keeps its headers, as lists where they stand in several lines", async () => {
    await using at = await openClients();
    const headers = [HOST, CLOSE, "X-One:  a \t", "x-one: b", "Cookie: c", "cookie: d", "Constructor: e", "X-Two:"];
    const read = readIn(await tell(at.url, [written("GET /", headers)]));
    expect(read?.headers).toEqual({
      host: "a",
      connection: "close",
      "x-one": "a, b",
      cookie: "c; d",
      constructor: "e",
      "x-two": "",
    });
  });

  test("that comes behind another waits until that one is answered", async () => {
    const waiting: (() => void)[] = [];
    const served: string[] = [];
    await using at = await openClients(async ({ url, reply }) => {
      served.push(url);
      await new Promise<void>((resolve) => void waiting.push(resolve));
      reply.answer(200, {}, Buffer.from(url));
    });
    using connection = await openRaw(at.url);
    connection.write(["/1", "/2", "/3"].map((path) => written(`GET ${path}`, [HOST])).join(""));
    for (const path of ["/1", "/2", "/3"]) {
      await until("it is served", () => waiting.length === 1);
      expect(served.at(-1)).toBe(path);
      waiting.pop()?.();
      await until("it is answered", () => connection.heard().endsWith(path));
    }
    expect(served).toEqual(["/1", "/2", "/3"]);
  });
});

describe("what is no request", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["nothing of HTTP", "hello\r\n\r\n", 400],
    ["the beginning of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["HTTP/0.9", "GET /\r\n\r\n", 400],
    ["half an end of a line", GET.replace("\r\n", "\n"), 400],
    ["half an end of a line, in a head that is not whole", "GET / HTTP/1.1\nHost: a", 400],
    ["a return by itself", written("GET /", [HOST, "X-A: 1\rX-B: 2"]), 400],
    ["a control", written("GET /", [HOST, "X-A: \x01"]), 400],
    ["a blank in its target", written("GET /a b", [HOST]), 400],
    ["a method nobody knows", GET.replace("GET", "BREW"), 400],
    ["no host", written("GET /", [CLOSE]), 400],
    ["two hosts", written("GET /", [HOST, "host: b"]), 400],
    ["two keys", written("GET /", [HOST, "Authorization: Bearer a", "Authorization: Bearer b"]), 400],
    ["a folded header", written("GET /", [HOST, "X-A: a", " b"]), 400],
    ["a header without a name", written("GET /", [HOST, ": a"]), 400],
    ["a blank before the colon", written("GET /", [HOST, "X-A : a"]), 400],
    ["two lengths", written("POST /", [HOST, LENGTH, LENGTH], BODY), 400],
    ["a length that is none", written("POST /", [HOST, "Content-Length: 0x10"], BODY), 400],
    ["a length and chunks", written("POST /", [HOST, LENGTH, "Transfer-Encoding: chunked"], CHUNKS), 400],
    ["chunks in HTTP/1.0", CHUNKED.replace("HTTP/1.1", "HTTP/1.0"), 400],
    ["an encoding besides", written("POST /", [HOST, "Transfer-Encoding: gzip, chunked"], CHUNKS), 400],
    [
      "chunks twice",
      written("POST /", [HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], CHUNKS),
      400,
    ],
    ["a chunk without a size", written("POST /", [HOST, "Transfer-Encoding: chunked"], "x\r\n"), 400],
    ["a chunk that does not end", written("POST /", [HOST, "Transfer-Encoding: chunked"], "1\r\nab\r\n0\r\n\r\n"), 400],
    [
      "a chunk that is too large",
      written("POST /", [HOST, "Transfer-Encoding: chunked"], "ffffffffffffffffff\r\n"),
      400,
    ],
    ["a trailer that is none", written("POST /", [HOST, "Transfer-Encoding: chunked"], "0\r\n:\r\n\r\n"), 400],
    ["too many headers", written("GET /", [HOST, ...Array.from({ length: 300 }, (_, at) => `x-${at}: 1`)]), 400],
    ["an expectation nobody knows", written("POST /", [HOST, "Expect: 200-ok", LENGTH], BODY), 417],
    ["headers that are too long", written("GET /", [HOST, `X-A: ${"a".repeat(17_000)}`]), 431],
    ["headers that never end", `GET / HTTP/1.1\r\nX-A: ${"a".repeat(17_000)}`, 431],
  ];

  test.each(cases)("%s is refused, and ends the connection", async (_name, text, status) => {
    let served = 0;
    await using at = await openClients(async (asked) => {
      await asked.body(1000);
      served++;
      asked.reply.answer(200, {}, Buffer.from(""));
    });
    const answer = readRaw(await tell(at.url, [`${text}${GET}`]));
    expect([answer.status, answer.answers]).toEqual([status, 1]);
    expect(answer.headers).toMatch(/connection: close/i);
    expect(JSON.parse(answer.body)).toMatchObject({ type: "error", error: { code: "invalid_request" } });
    expect(served).toBe(0);
  });

  test("what is sent in time is taken, and the rest is not waited for", async () => {
    await using at = await openClients(undefined, { request_ms: 100 });
    const late = await Promise.all([
      tell(at.url, ["GET / HT"]),
      tell(at.url, [POST.slice(0, -3)]),
      tell(at.url, [CHUNKED.slice(0, -10)]),
    ]);
    expect(late.map((answer) => readRaw(answer).status)).toEqual([408, 408, 408]);
    // Who says nothing at all is told nothing.
    expect(await tell(at.url, [])).toBe("");
    await until("those who waited for the rest hear of it", () => at.failed.length === 2);
    expect(at.failed).toMatchObject([{ name: "ClientGone" }, { name: "ClientGone" }]);
  });
});
