import { readFileSync } from "node:fs";
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openBursar } from "../../src/runs/bursar.js";
import { openServer } from "../../src/server/server.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { type Listener, listen } from "./listening.js";
import { opened, TIGHT } from "./scene.js";

interface Made {
  readonly key: { readonly id: string };
  readonly token: { readonly id: string };
}

test("every route answers as the description says, and nothing that it does not say", async () => {
  const sandbox = { list: () => [{ id: "s" }], destroy: async () => true };
  await using at = await opened({ sandbox }, ["viewer"]);
  const { id, pause } = await at.start("abcd", TIGHT);
  const { id: second, pause: other } = await at.start("abcd", TIGHT);
  const asked = pause?.approvals[0];
  for (const path of ["me", "overview", "programs", "sessions", "config", "runs", "approvals", "keys", "tokens"]) {
    expect((await at.get(`/api/v1/${path}`)).status).toBe(200);
  }
  for (const path of ["", "/steps", "/burndown", "/chain", "/chain.jsonl"]) await at.get(`/api/v1/runs/${id}${path}`);
  for (const path of ["chain", "chain.jsonl"]) await at.get(`/api/v1/budgets/${id}/${path}`);
  for (const path of ["/health", "/metrics", "/openapi.json"]) await at.get(path);
  for (const path of ["chain", "chain.jsonl"]) await at.get(`/api/v1/server/${path}`);
  await at.get(`/api/v1/approvals/${asked}`);
  await at.post(`/api/v1/approvals/${asked}/approve`, { extensions: { steps: 1 } });
  await at.still(id);
  await at.post(`/api/v1/runs/${id}/extend`, { extensions: { steps: 10 } });
  await at.post(`/api/v1/budgets/${id}/extend`, { extensions: { steps: 10 } });
  await at.post(`/api/v1/runs/${id}/resume`);
  await at.post(`/api/v1/approvals/${other?.approvals[0]}/deny`, { reason: "no" });
  await at.post(`/api/v1/runs/${second}/cancel`);
  for (const status of [201, 200]) {
    const again = { program: "talker", input: { words: [] }, id: "again" };
    expect((await at.post("/api/v1/runs", again)).status).toBe(status);
  }
  const estimate = { program: "talker", input: { words: ["a"] }, limits: { steps: 5 } };
  expect((await at.post("/api/v1/estimates", estimate)).status).toBe(200);
  const { key } = (await at.post<Made>("/api/v1/keys", { limits: { steps: 1 } })).body;
  await at.post(`/api/v1/keys/${key.id}/rotate`);
  await at.ask("DELETE", `/api/v1/keys/${key.id}`);
  const { token } = (await at.post<Made>("/api/v1/tokens", { name: "x", role: "agent" })).body;
  await at.ask("DELETE", `/api/v1/tokens/${token.id}`);
  await at.ask("DELETE", "/api/v1/sessions/sandbox/s");
  await at.post("/api/v1/login", { token: at.secretOf("viewer") });
  await at.post("/api/v1/logout");
  for (const path of ["/api/v1/events", `/api/v1/runs/${id}/events`]) {
    using stream = await listen(`${at.url}${path}`);
    at.description.check("GET", path, stream.status, typeOf(stream), []);
  }
  expect([...at.description.seen].toSorted()).toEqual(at.description.operations.toSorted());
});

test("the description is whole: every name in it is there, once", async () => {
  await using at = await opened();
  const text = JSON.stringify((await at.get("/openapi.json")).body);
  const { openapi, paths, components } = JSON.parse(text) as {
    openapi: string;
    paths: Record<string, Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>>;
    components: { schemas: Record<string, unknown> };
  };
  expect(openapi).toBe("3.1.0");
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    expect(Object.keys(components.schemas)).toContain(name);
  }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  );
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, parameters = [] } of operations) {
    const inPath = parameters.filter((each) => each.in === "path").map(({ name }) => name);
    expect([path, inPath]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
  }
});

test("events are as the description says, from the first to the last", async () => {
  await using at = await opened();
  using changes = await listen(`${at.url}/api/v1/events`);
  const { id, pause } = await at.start("abcd", TIGHT);
  using run = await listen(`${at.url}/api/v1/runs/${id}/events`);
  await changes.hears("of the request", ({ data }) => JSON.stringify(data).includes(pause?.approvals[0] ?? id));
  await run.hears("of the run", ({ event }) => event === "run");
  await at.server[Symbol.asyncDispose]();
  for (const [path, stream] of [["/api/v1/events", changes] as const, [`/api/v1/runs/${id}/events`, run] as const]) {
    await stream.hears("the end", ({ event }) => event === "closing");
    const events = stream.heard.map(({ id, ...rest }) => (id === null ? rest : { ...rest, id }));
    at.description.check("GET", path, stream.status, typeOf(stream), events);
    // A description that takes everything would prove nothing.
    for (const wrong of [{ event: "changed" }, { event: "link", data: {} }, { event: "other", data: { reason: "" } }]) {
      expect(() => at.description.check("GET", path, 200, typeOf(stream), [wrong])).toThrow();
    }
  }
  expect(new Set(run.heard.map(({ event }) => event))).toEqual(new Set(["link", "run", "closing"]));
});

function typeOf({ incoming }: Listener): string {
  return incoming.headers["content-type"] ?? "";
}

test.each([
  ["http://127.0.0.1:8787", "bursar_login"],
  ["https://bursar.example", "__Host-bursar_login"],
])("at %s the description names the cookie that a login sets: %s", async (url, name) => {
  await using at = await opened({ requireLogin: true, url }, ["admin"]);
  const { headers } = await at.post("/api/v1/login", { token: at.secretOf("admin") });
  expect(headers.get("set-cookie")?.split("=")[0]).toBe(name);
  const { body } = await at.get<object>("/openapi.json");
  expect(body).toMatchObject({ components: { securitySchemes: { login: { in: "cookie", name } } } });
});

test("over HTTPS browsers are told to stay there", async () => {
  const file = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../gateway/tls/${name}`, import.meta.url)), "utf8");
  const store = new MemoryStore();
  const tls = { cert: file("cert.pem"), key: file("key.pem") };
  await using server = await openServer({ store, bursar: openBursar({ store }), port: 0, host: "localhost", tls });
  expect(server.url).toMatch(/^https:\/\/localhost:/);
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    request(`${server.url}/health`, { ca: tls.cert }, (answer) => resolve(answer.resume().headers))
      .on("error", reject)
      .end();
  });
  expect(headers["strict-transport-security"]).toMatch(/^max-age=\d+$/);
});
