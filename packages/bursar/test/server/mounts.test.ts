import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { mountGateway } from "../../src/gateway/gateway.js";
import { Gate } from "../../src/runtime/gate.js";
import type { KnownHandler } from "../../src/server/server.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel } from "../../src/testing/scripted-model.js";
import { askRaw, written } from "../gateway/raw.js";
import { opened } from "./scene.js";

const HELLO = { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } } as const;
const ASK = JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 });

async function gatewayOn(store: MemoryStore, url: () => string) {
  const model = await openScriptedModel({ script: () => HELLO, models: ["gpt-4o"] });
  using gate = new Gate({ store });
  await gate.open("team", {
    limits: { llm_tokens: 200 },
    policies: { llm_tokens: "approval_required" },
    scope: "shared",
  });
  const gateway = await mountGateway({ store, upstreams: [{ name: "provider", url: model.url, key: "k" }], url });
  const { secret } = await gateway.keys.create({ budget: "team" });
  return {
    gateway,
    model,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

const NO_GATEWAY = expect.stringContaining("this server has no gateway");

describe("a gateway that is mounted", () => {
  test("serves on somebody else's port, and settles what it has begun before it is closed", async () => {
    const server = createServer((incoming, response) => void at.gateway.handle(incoming, response));
    const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store = new MemoryStore();
    await using at = await gatewayOn(store, url);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    expect(at.gateway.url).toBe(url());
    const post = () => fetch(`${url()}/v1/chat/completions`, { method: "POST", headers: at.headers, body: ASK });
    expect((await post()).status).toBe(200);
    const refused = await post();
    expect([refused.status, await refused.json()]).toMatchObject([
      402,
      { error: { bursar: { approval_url: expect.stringContaining(`${url()}/bursar/approvals/`) } } },
    ]);
    await at.gateway.close();
    expect((await post()).status).toBe(503);
    await new Promise((resolve) => server.close(resolve));
  });

  test("stands beside the API, with keys of its own and no other guard", async () => {
    const store = new MemoryStore();
    let base = "";
    await using gated = await gatewayOn(store, () => base);
    await using at = await opened({ store, requireLogin: true, mounts: { gateway: gated.gateway } }, ["admin"]);
    base = at.server.url;
    const headers = { ...gated.headers, origin: "https://elsewhere.example" };
    for (const path of ["/v1/chat/completions"]) {
      const answer = await fetch(`${at.url}${path}`, { method: "POST", headers, body: ASK });
      expect([answer.status, await answer.json()]).toMatchObject([200, { choices: [{}] }]);
    }
    const budget = await fetch(`${at.url}/bursar/budget`, { headers: gated.headers });
    expect(await budget.json()).toMatchObject({ budget: "team", used: { llm_tokens: 120 } });
    const named = await fetch(`${at.url}/provider/v1/models`, { headers: gated.headers });
    expect(named.status).toBe(200);
    // A token of the server is no key of the gateway, and the other way round.
    const token = { authorization: `Bearer ${at.secretOf("admin")}` };
    expect((await fetch(`${at.url}/v1/models`, { headers: token })).status).toBe(401);
    expect((await at.get("/api/v1/me", { authorization: gated.headers.authorization })).status).toBe(401);
    expect((await fetch(`${at.url}/v1x/models`)).status).toBe(404);
  });

  test.each([
    "api",
    "mcp",
    "assets",
    "metrics",
    "health",
    "runs",
    "approvals",
    "sessions",
    "keys",
    "tokens",
    "config",
    "verify",
    "login",
    "v1",
    "bursar",
    "openapi.json",
  ])("does not take a provider by the name of %s, which would hide a path of the server's", async (name) => {
    const upstreams = [{ name, url: "http://127.0.0.1:1" }];
    const mounted = mountGateway({ store: new MemoryStore(), upstreams, url: () => "http://127.0.0.1:1" });
    await expect(mounted).rejects.toThrow(/upstream\.name is .*(?:use another|allowed)/);
  });

  test.each(["/v1/chat/completions", "/bursar/budget"])("is missed by name at %s where there is none", async (path) => {
    await using at = await opened();
    for (const method of ["GET", "POST"]) {
      const answer = await fetch(`${at.url}${path}`, { method });
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { hint: NO_GATEWAY } }]);
    }
  });

  test("wants to know where clients find it", async () => {
    const options = { store: new MemoryStore(), upstreams: [{ name: "a", url: "http://127.0.0.1:1" }] };
    expect(() => mountGateway({ ...options, url: "http://x" as never })).toThrow(/url/);
  });
});

describe("MCP", () => {
  const mcp: KnownHandler = (incoming, response, principal) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ path: incoming.url, ...principal }));
  };

  test("is handed whoever is known, and nobody else", async () => {
    await using at = await opened({ requireLogin: true, mounts: { mcp } }, ["agent", "admin"]);
    const ask = (headers: Record<string, string>, method = "POST") => fetch(`${at.url}/mcp`, { method, headers });
    expect(await (await ask(at.as("agent"))).json()).toEqual({ path: "/mcp", name: "the agent", role: "agent" });
    expect((await ask(at.as("agent"), "DELETE")).status).toBe(200);
    expect((await ask({})).status).toBe(401);
    expect((await ask({ ...at.as("agent"), origin: "https://evil.example" })).status).toBe(403);
    const rebound = ["Host: evil.example", "Connection: close", `Authorization: ${at.as("agent").authorization}`];
    expect((await askRaw(at.url, written("POST /mcp", rebound))).status).toBe(403);
  });

  test("is not there where nobody has mounted it", async () => {
    await using at = await opened();
    expect((await at.post("/mcp")).status).toBe(404);
  });

  test("that fails is told as a failure, and not how", async () => {
    const failing: KnownHandler = () => Promise.reject(new Error("a secret of ours"));
    await using at = await opened({ mounts: { mcp: failing } });
    const answer = await fetch(`${at.url}/mcp`, { method: "POST" });
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining("secret")]);
    expect(at.errors).toHaveLength(1);
  });
});
