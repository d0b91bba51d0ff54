import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { askRaw, written } from "../gateway/raw.js";
import { opened, type Told } from "./scene.js";

const SEND = { "content-type": "application/json" };

describe("names and sites", () => {
  test.each([
    ["127.0.0.1:PORT", 200],
    ["localhost:PORT", 200],
    ["LOCALHOST:1", 200],
    ["page.localhost:PORT", 200],
    ["[::1]:PORT", 200],
    ["192.168.1.7", 200],
    ["bursar.example", 200],
    ["bursar.example:443", 200],
    ["evil.example", 403],
    ["bursar.example.evil.example:PORT", 403],
    ["127.0.0.1.evil.example:PORT", 403],
    ["localhost.evil.example", 403],
    ["evil.example#127.0.0.1", 403],
    ["evil.example@localhost", 403],
    ["", 403],
  ])("a request for host %j: %d", async (host, status) => {
    await using at = await opened({ url: "https://bursar.example" }, ["admin"]);
    const { url } = at;
    const { authorization } = at.as("admin");
    const named = `Host: ${host.replace("PORT", new URL(url).port)}`;
    const headers = [named, "Connection: close", `Authorization: ${authorization}`];
    for (const path of ["/api/v1/me", "/metrics", "/openapi.json", "/api/v1/events/none"]) {
      const answer = await askRaw(url, written(`GET ${path}`, headers));
      const expected = status === 200 && path.endsWith("none") ? 404 : status;
      expect([path, answer.status]).toEqual([path, expected]);
      if (answer.status === 403) expect(JSON.parse(answer.body)).toMatchObject({ error: { code: "unknown_host" } });
    }
    // Whoever only looks whether it is alive knows it by any name.
    expect((await askRaw(url, written("GET /health", headers))).status).toBe(200);
  });

  test.each<[Record<string, string>, number]>([
    [{}, 201],
    [{ origin: "OWN" }, 201],
    [{ origin: "OWN", "sec-fetch-site": "same-origin" }, 201],
    [{ "sec-fetch-site": "none" }, 201],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://127.0.0.1:1" }, 403],
    [{ origin: "http://localhost" }, 403],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ origin: "OWN", "sec-fetch-site": "cross-site" }, 403],
  ])("a request that says %j: %d", async (said, status) => {
    await using at = await opened();
    const headers = Object.fromEntries(
      Object.entries(said).map(([name, value]) => [name, value.replace("OWN", at.url)]),
    );
    const body = { program: "talker", input: { words: [] } };
    expect((await at.post("/api/v1/runs", body, headers)).status).toBe(status);
    // Nor does another site learn anything by asking.
    const { status: read, headers: answered } = await at.get("/api/v1/runs", headers);
    expect(read).toBe(status === 201 ? 200 : 403);
    expect([...answered.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("a page's own origin is taken behind a proxy too", async () => {
    await using at = await opened({ url: "https://bursar.example" }, ["admin"]);
    const body = { program: "talker", input: { words: [] } };
    const post = (origin: string) => at.post("/api/v1/runs", body, { ...at.as("admin"), origin });
    expect((await post("https://bursar.example")).status).toBe(201);
    expect((await post("http://bursar.example")).status).toBe(403);
    expect((await post("https://bursar.example:8443")).status).toBe(403);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "",
  ])("what a form can send is not taken: %j", async (type) => {
    await using at = await opened();
    const answer = await at.post("/api/v1/runs", '{"program":"talker"}', { "content-type": type });
    expect([answer.status, answer.body.error.code]).toEqual([415, "not_json"]);
  });

  test("browsers are told what they may not do", async () => {
    await using at = await opened();
    for (const path of ["/api/v1/me", "/nothing", "/health"]) {
      const { headers } = await at.get(path);
      expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers.get("content-security-policy")).not.toContain("unsafe");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
    }
  });
});

describe("a proxy on the same machine", () => {
  const ME = "GET /api/v1/me";
  const direct = ["Host: 127.0.0.1", "Connection: close"];
  const PASSED_ON: readonly (readonly [string, string])[] = [
    ["Forwarded: for=203.0.113.7", "1.1"],
    ["X-Forwarded-For: 203.0.113.7", "1.1"],
    ["X-Forwarded-Host: bursar.example", "1.1"],
    ["X-Forwarded-Proto: https", "1.1"],
    ["X-Real-IP: 203.0.113.7", "1.1"],
    ["Via: 1.1 proxy", "1.1"],
    ["X-Forwarded-For:", "1.1"],
    // What nginx sends unless it is told otherwise.
    ["Accept: */*", "1.0"],
  ];

  test.each(PASSED_ON)("makes nobody an admin: %s, HTTP/%s", async (header, version) => {
    await using at = await opened();
    const ask = (what: string) =>
      askRaw(at.url, written(what, [...direct, header]).replace("HTTP/1.1", `HTTP/${version}`));
    for (const what of [ME, "GET /metrics", "GET /openapi.json", "GET /", "POST /mcp", "POST /api/v1/login"]) {
      const { status, body } = await ask(what);
      const { error } = JSON.parse(body) as Told;
      expect([what, status, error.code]).toEqual([what, 403, "proxied"]);
      expect(error.hint).toMatch(/--url.*--login/);
    }
    expect((await ask("GET /health")).status).toBe(200);
    expect((await askRaw(at.url, written(ME, direct))).status).toBe(200);
  });

  test.each(PASSED_ON)("is welcome where everybody logs in: %s, HTTP/%s", async (header, version) => {
    await using at = await opened({ requireLogin: true }, ["admin"]);
    const ask = (more: readonly string[]) =>
      askRaw(at.url, written(ME, [...direct, header, ...more]).replace("HTTP/1.1", `HTTP/${version}`));
    expect((await ask([])).status).toBe(401);
    expect((await ask([`Authorization: ${at.as("admin").authorization}`])).status).toBe(200);
  });
});

describe("what makes no sense", () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number]>([
    ["no JSON", "{", SEND, 400],
    ["half of it", '{"program":', SEND, 400],
    ["no object", "[]", SEND, 400],
    ["null", "null", SEND, 400],
    ["another type", '{"program":7}', SEND, 400],
    ["too little", "{}", SEND, 400],
    ["too much", '{"program":"talker","programme":1}', SEND, 400],
    ["a prototype", '{"program":"talker","__proto__":{"id":"x"}}', SEND, 400],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0xfe, 0x22]), SEND, 400],
    ["too deep", `{"program":"talker","input":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, SEND, 400],
    ["half of a character", '{"program":"talker","input":"\\ud800"}', SEND, 400],
    ["too long", `{"program":"${"x".repeat(70_000)}"}`, SEND, 413],
    ["compressed", "{}", { ...SEND, "content-encoding": "gzip" }, 415],
  ])("%s", async (_, body, headers, status) => {
    await using at = await opened({ body_bytes: 64 * 1024 });
    const answer = await fetch(`${at.url}/api/v1/runs`, { method: "POST", headers, body });
    const { error } = (await answer.json()) as { error: { code: string; hint: string } };
    expect([_, answer.status, typeof error.code, typeof error.hint]).toEqual([_, status, "string", "string"]);
    expect((await at.get<{ items: unknown[] }>("/api/v1/runs")).body.items).toEqual([]);
    expect(at.errors).toEqual([]);
  });

  test.each([
    ["GET", "/api/v1/nothing", 404],
    ["GET", "/api/v1/runs/", 404],
    ["GET", "/api/v1/runs/a/b/c/d", 404],
    ["GET", "/api/v1/runs/%", 400],
    ["GET", "/api/v1/runs/%E0%A4", 400],
    ["GET", "/api/v1/runs?limit=1&limit=2", 400],
    ["GET", "/api/v1/runs?limit=0", 400],
    ["GET", "/api/v1/runs?limit=many", 400],
    ["GET", "/api/v1/runs?status=Running", 400],
    ["GET", "/api/v1/runs?before=%00", 400],
    ["GET", "/api/v1/runs/nothing/steps", 404],
    ["GET", "/api/v1/runs/nothing/burndown", 404],
    ["GET", "/api/v1/runs/nothing/chain", 404],
    ["GET", "/api/v1/runs/nothing/chain.jsonl", 404],
    ["GET", "/api/v1/runs/nothing/events", 404],
    ["GET", "/api/v1/runs/a/chain?from=-1", 400],
    ["GET", "/api/v1/runs/a/chain?from=9999999999999999", 400],
    ["DELETE", "/api/v1/runs", 405],
    ["PUT", "/api/v1/runs", 405],
    ["OPTIONS", "/api/v1/runs", 405],
    ["POST", "/api/v1/runs/nothing/cancel", 404],
    ["POST", "/api/v1/runs/nothing/resume", 404],
    ["POST", "/api/v1/me", 405],
    ["TRACE", "/api/v1/me", 405],
    ["GET", "//evil.example/api/v1/me", 404],
  ])("%s %s: %d", async (method, path, status) => {
    await using at = await opened();
    const headers = ["Host: localhost", "Connection: close", "Content-Type: application/json", "Content-Length: 2"];
    const answer = await askRaw(at.url, written(`${method} ${path}`, headers, "{}"));
    expect([answer.status, answer.answers]).toEqual([status, 1]);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: expect.any(String), hint: expect.any(String) } });
    expect(at.errors).toEqual([]);
  });

  test.each([
    [{ program: "nobody" }, 404, "unknown_program"],
    [{ program: { name: "x", language: "python", code: "1" } }, 400, "no_such_language"],
    [{ program: "talker", limits: { cots_usd: 1 } }, 400, "invalid_input"],
    [{ program: "talker", limits: { steps: 1.5 } }, 400, "invalid_input"],
    [{ program: "talker", policies: { steps: "maybe" } }, 400, "invalid_input"],
    [{ program: "talker", session: "nobody's" }, 400, "invalid_input"],
    [{ program: "talker", id: "a\u0000b" }, 400, "invalid_input"],
    [{ program: "talker", id: "a\ud800" }, 400, "invalid_input"],
  ])("a run of %j: %d %s", async (body, status, code) => {
    await using at = await opened();
    const answer = await at.post("/api/v1/runs", body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(at.errors).toEqual([]);
  });
});

test.each(["a b/c", "tenant:acme", "x".repeat(101)])("a session cannot be called %s", async (session) => {
  await using at = await opened();
  await at.bursar.openSession(session, { steps: 10 });
  for (const path of ["runs", "estimates"]) {
    const answer = await at.post<Told>(`/api/v1/${path}`, { program: "talker", input: { words: [] }, session });
    expect([path, answer.status, answer.body.error.message]).toEqual([
      path,
      400,
      expect.stringContaining("allowed: 1 to 100"),
    ]);
  }
});

describe("who asks too often", () => {
  test("is told when to ask again, and is served then", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened({ store, rate: { burst: 5, per_second: 1 } });
    const statuses: number[] = [];
    for (let each = 0; each < 6; each++) statuses.push((await at.get("/api/v1/me")).status);
    // One was taken to ask for the description.
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
    const { headers, body } = await at.get("/api/v1/me");
    expect([headers.get("retry-after"), body.error.code]).toEqual(["1", "too_often"]);
    clock.advance(1000);
    expect((await at.get("/api/v1/me")).status).toBe(200);
    expect((await at.get("/api/v1/me")).status).toBe(429);
  });
});
