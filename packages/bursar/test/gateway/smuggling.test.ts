import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { opened } from "./opened.js";
import { askRaw, written } from "./raw.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 10, completion_tokens: 2 } } as const;
const ASK = { model: "gpt-4o", messages: [{ role: "user" as const, content: "Hi" }], max_tokens: 50 };
const BODY = JSON.stringify(ASK);
const CLOSE = "Connection: close";

describe("requests that are two things at once", () => {
  const length = `Content-Length: ${BODY.length}`;
  const inner = written("POST /v1/files", ["Host: a"], "");
  test.each<[string, readonly string[], string]>([
    ["two lengths", [length, "Content-Length: 5"], BODY],
    ["two lengths in one", [`Content-Length: ${BODY.length}, 5`], BODY],
    [
      "a length and chunks",
      [length, "Transfer-Encoding: chunked"],
      `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
    ],
    ["chunks that are none", ["Transfer-Encoding: xchunked"], `0\r\n\r\n${inner}`],
    ["chunks twice", ["Transfer-Encoding: chunked, identity"], `0\r\n\r\n${inner}`],
    ["a length with a sign", [`Content-Length: +${BODY.length}`], BODY],
    ["a header with a blank before its colon", ["Transfer-Encoding : chunked", length], BODY],
    ["a folded header", ["X-One: a", " b", length], BODY],
  ])("%s: 400, and the connection is closed", async (_name, headers, body) => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const key = `Authorization: Bearer ${at.secret}`;
    const text = written("POST /v1/chat/completions", ["Host: a", key, ...headers], body);
    const { status, answers } = await askRaw(at.gateway.url, text);
    expect([status, answers]).toEqual([400, 1]);
    expect(at.model.count).toBe(0);
    expect((await at.used()).steps ?? 0).toBe(0);
  });

  test("a second request behind the first is one of its own, with a key of its own", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const key = `Authorization: Bearer ${at.secret}`;
    const first = written("POST /v1/chat/completions", ["Host: a", key, length], BODY);
    const second = written("POST /v1/chat/completions", ["Host: a", CLOSE, length], BODY);
    const { body, answers } = await askRaw(at.gateway.url, first + second);
    expect(answers).toBe(2);
    expect(body).toContain("HTTP/1.1 401");
    expect(at.model.count).toBe(1);
  });
});

describe("headers", () => {
  test("what is the gateway's, the connection's or the account's goes no further", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = [
      "Host: a",
      "Connection: close, X-Hop",
      "X-Hop: secret of the connection",
      `Authorization: Bearer ${at.secret}`,
      "X-Bursar-Budget: another",
      "X-Forwarded-For: 1.2.3.4",
      "X-Forwarded-Host: evil",
      "Forwarded: for=1.2.3.4",
      "Cookie: a=b",
      "OpenAI-Organization: org-other",
      "OpenAI-Project: proj-other",
      "Proxy-Authorization: Basic abc",
      "TE: trailers",
      "Expect: 100-continue",
      "Accept-Encoding: gzip",
      "X-Stainless-Lang: python",
      `Content-Length: ${BODY.length}`,
    ];
    await askRaw(at.gateway.url, written("POST /v1/chat/completions", headers, BODY));
    const [request] = at.model.requests;
    expect(request?.headers).toMatchObject({ "x-stainless-lang": "python", authorization: "Bearer upstream-secret" });
    expect(request?.headers["accept-encoding"]).toBe("identity");
    const gone = ["x-hop", "x-bursar-budget", "x-forwarded-for", "x-forwarded-host", "forwarded", "cookie", "te"];
    gone.push("openai-organization", "openai-project", "proxy-authorization", "expect");
    for (const name of gone) expect(request?.headers, name).not.toHaveProperty([name]);
  });

  test("one that the connection names alone goes no further either", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const { hostname, port } = new URL(at.gateway.url);
    const { request } = await import("node:http");
    await new Promise((resolve, reject) => {
      const headers = { connection: "X-Hop", "x-hop": "1", "x-api-key": at.secret, "content-length": BODY.length };
      const asked = request({ hostname, port, path: "/v1/chat/completions", method: "POST", headers });
      asked.on("response", (answer) => answer.resume().on("end", resolve));
      asked.on("error", reject);
      asked.end(BODY);
    });
    expect(at.model.requests[0]?.headers).not.toHaveProperty(["x-hop"]);
  });

  test("a line end in a header is none", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = ["Host: a", "X-A: 1\rX-B: 2", `Authorization: Bearer ${at.secret}`, "Content-Length: 0"];
    expect((await askRaw(at.gateway.url, written("POST /v1/chat/completions", headers))).status).toBe(400);
  });
});

describe("paths", () => {
  const refused = [
    ["/v1/../v1/files", 404],
    ["/v1/chat/completions/../../files", 404],
    ["/v1/%2e%2e/files", 404],
    ["/v1/chat%2fcompletions", 404],
    ["/v1/chat/completions%00", 404],
    ["/V1/Chat/Completions", 404],
    ["/v2/chat/completions", 404],
    ["/anything/v1/chat/completions", 404],
    ["/v1/v1/v1/chat/completions", 404],
    ["/v1/messages/batches", 404],
    ["/v1/responses/resp_1", 404],
    ["/v1/chat/completions;a=b", 404],
    ["/provider", 404],
    ["/bursar/budget", 404],
    ["*", 400],
    ["http://", 400],
    ["file:///etc/passwd", 400],
  ] as const;
  test.each(refused)("POST %s is refused with %d", async (path, status) => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = ["Host: a", CLOSE, `Authorization: Bearer ${at.secret}`, `Content-Length: ${BODY.length}`];
    const answer = await askRaw(at.gateway.url, written(`POST ${path}`, headers, BODY));
    expect(answer.status).toBe(status);
    expect(at.model.count).toBe(0);
  });

  const passed = ["/v1/chat/completions", "/chat/completions", "//v1//chat/completions", "/v1/chat/completions/"];
  passed.push("/provider/v1/chat/completions", "/provider/chat/completions", "/v1/files/../chat/completions");
  passed.push(
    "/v1/v1/chat/completions",
    "http://elsewhere.example/v1/chat/completions",
    "//elsewhere/../v1/chat/completions",
  );
  test.each(passed)("POST %s goes to chat completions of the provider and nowhere else", async (path) => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = ["Host: a", CLOSE, `Authorization: Bearer ${at.secret}`, `Content-Length: ${BODY.length}`];
    const answer = await askRaw(at.gateway.url, written(`POST ${path}`, headers, BODY));
    expect(answer.status).toBe(200);
    expect(at.model.requests[0]?.path).toBe("/v1/chat/completions");
  });

  test.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s is refused", async (method) => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = ["Host: a", CLOSE, `Authorization: Bearer ${at.secret}`];
    const answer = await askRaw(at.gateway.url, written(`${method} /v1/chat/completions`, headers));
    expect(answer.status).toBe(404);
  });

  test("what costs nothing is passed on", async () => {
    await using at = await opened([], { cost_usd: 1 });
    const headers = { authorization: `Bearer ${at.secret}` };
    const list = await fetch(`${at.gateway.url}/v1/models`, { headers });
    expect(await list.json()).toMatchObject({ object: "list" });
    const one = await fetch(`${at.gateway.url}/provider/v1/models/gpt-4o`, { headers });
    expect(await one.json()).toMatchObject({ id: "gpt-4o" });
    const count = await fetch(`${at.gateway.url}/v1/messages/count_tokens`, {
      method: "POST",
      headers: { ...headers, "anthropic-version": "2023-06-01", "content-type": "application/json" },
      body: JSON.stringify({ messages: ASK.messages, model: "claude-sonnet-4-5" }),
    });
    expect(await count.json()).toMatchObject({ input_tokens: expect.any(Number) });
    expect((await at.used()).steps ?? 0).toBe(0);
  });
});

describe("bodies", () => {
  test("what is priced is what the provider sees: the last of two models", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const twice = `{"model":"gpt-4o-mini","max_tokens":1,"model":"gpt-4o","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`;
    expect((await at.post("/v1/chat/completions", twice)).status).toBe(200);
    expect(at.model.requests[0]?.body).toEqual({ ...ASK });
  });

  test("the prototype of nothing is changed, and nothing is taken from one", async () => {
    await using at = await opened([HELLO, HELLO], { cost_usd: 1 });
    const hidden = `{"__proto__":{"model":"gpt-4o","messages":[]},"constructor":{"prototype":{"polluted":1}}}`;
    expect((await at.post("/v1/chat/completions", hidden)).status).toBe(400);
    const beside = `{"__proto__":{"max_tokens":1,"polluted":1},${BODY.slice(1)}`;
    // A member that is not known is refused, whatever it is called.
    expect((await at.post("/v1/chat/completions", beside)).status).toBe(402);
    expect("polluted" in {}).toBe(false);
    const within = BODY.replace('"role"', '"__proto__":{"content":[]},"role"');
    expect((await at.post("/v1/chat/completions", within)).status).toBe(200);
    expect(at.model.requests[0]?.body).toMatchObject({ max_tokens: 50 });
  });

  test("half a character of UTF-16 is passed on as it was written", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const body = `{"model":"gpt-4o","max_tokens":50,"messages":[{"role":"user","content":"a\\ud800b\\udc00"}]}`;
    expect((await at.post("/v1/chat/completions", body)).status).toBe(200);
    expect(JSON.stringify(at.model.requests[0]?.body.messages)).toContain("a\\ud800b\\udc00");
  });

  test("bytes that are no UTF-8 are refused: they would be sent as three times as many", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const bytes = Buffer.concat([Buffer.from(BODY.slice(0, -3)), Buffer.alloc(100, 0xff), Buffer.from(BODY.slice(-3))]);
    const headers = { authorization: `Bearer ${at.secret}` };
    const answer = await fetch(`${at.gateway.url}/v1/chat/completions`, { method: "POST", headers, body: bytes });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: expect.stringContaining("UTF-8") } },
    ]);
    expect(at.model.count).toBe(0);
  });

  test("numbers that grow when they are written anew are counted as they are sent", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const numbers = Array.from({ length: 100 }, () => "1e20").join(",");
    const parameters = `{"type":"object","enum":[${numbers}]}`;
    const tools = `[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
    const answer = await at.post("/v1/chat/completions", `${BODY.slice(0, -1)},"tools":${tools}}`);
    expect(answer.status).toBe(200);
    const sent = Buffer.byteLength(JSON.stringify(at.model.requests[0]?.body));
    // The tokens that were reserved are those of the input and the 50 of the output.
    expect(Number(answer.headers.get("x-bursar-reserved-llm-tokens"))).toBeGreaterThanOrEqual(sent);
  });

  test.each([
    ["", 400],
    ["nonsense", 400],
    ["[]", 400],
    ["null", 400],
    [`${"[".repeat(100_000)}`, 400],
    [`{"model":"gpt-4o","messages":${"[".repeat(5000)}${"]".repeat(5000)}}`, 400],
    [`{"model":"gpt-4o","x":1e5,"messages":${"[".repeat(5000)}${"]".repeat(5000)}}`, 400],
    [`{"model":["gpt-4o"],"messages":[]}`, 400],
    [`{"model":"gpt-4o","messages":[],"max_tokens":-1}`, 400],
    [`{"model":"gpt-4o","messages":[],"max_tokens":1e400}`, 400],
    [`{"model":"nobody-knows","messages":[]}`, 402],
  ])("%#: what is no request is refused", async (body, status) => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const answer = await at.post("/v1/chat/completions", body);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty("error.message");
    expect(at.model.count).toBe(0);
  });

  test("a body that is compressed is refused, because it cannot be read", async () => {
    await using at = await opened([HELLO], { cost_usd: 1 });
    const headers = { authorization: `Bearer ${at.secret}`, "content-encoding": "gzip" };
    const body = gzipSync(BODY);
    const answer = await fetch(`${at.gateway.url}/v1/chat/completions`, { method: "POST", headers, body });
    expect(answer.status).toBe(415);
  });
});
