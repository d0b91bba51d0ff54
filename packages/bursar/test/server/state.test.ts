import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import { readAmounts } from "../../src/core/input.js";
import type { GatewayKey } from "../../src/gateway/gateway.js";
import { Gate } from "../../src/runtime/gate.js";
import { SERVER_CHAIN } from "../../src/runtime/server-chain.js";
import type { Token } from "../../src/server/tokens.js";
import { MemoryStore } from "../../src/stores/memory.js";
import type { Overview, SessionView } from "../../src/views/views.js";
import { opened, TIGHT } from "./scene.js";

interface Items<Item> {
  readonly items: readonly Item[];
}

interface NewKey {
  readonly key: GatewayKey;
  readonly secret: string;
}

async function actions(store: MemoryStore): Promise<readonly { action_type: string; data: JsonObject }[]> {
  const links: { action_type: string; data: JsonObject }[] = [];
  for await (const line of store.chain(SERVER_CHAIN)) links.push(JSON.parse(line));
  return links.slice(1);
}

describe("how everything stands", () => {
  test("what is running, spending and waiting", async () => {
    await using at = await opened();
    await at.start("ab");
    const { id } = await at.start("abc", TIGHT);
    const { body } = await at.get<Overview>("/api/v1/overview");
    expect(body).toMatchObject({ runs: { completed: 1, paused: 1 }, spending: { steps: 2 }, waiting: [{ run: id }] });
  });

  test("programs and configuration are as whoever runs the server says", async () => {
    await using at = await opened({ config: async () => ({ file: "bursar.yaml", limits: [] }) });
    expect((await at.get("/api/v1/programs")).body).toEqual({ items: [{ name: "talker", kind: "agent" }] });
    expect((await at.get("/api/v1/config")).body).toEqual({ file: "bursar.yaml", limits: [] });
  });

  test("of the configuration one can ask what the runs of a program get", async () => {
    await using at = await opened({ config: (program = "any") => ({ program }) });
    expect((await at.get("/api/v1/config")).body).toEqual({ program: "any" });
    expect((await at.get("/api/v1/config?program=1%2F2")).body).toEqual({ program: "1/2" });
    expect((await at.get(`/api/v1/config?program=${"x".repeat(2000)}`)).status).toBe(400);
  });

  test("sessions: what runs share, and what the sandbox has", async () => {
    const destroyed: string[] = [];
    const sandbox = {
      list: () => [{ id: "py-1", language: "python" }],
      destroy: async (id: string) => id === "py-1" && destroyed.push(id) > 0,
    };
    await using at = await opened({ sandbox });
    await at.bursar.openSession("team", { steps: 100 });
    await at.start("ab", { session: "team" });
    const { body } = await at.get<{ budgets: readonly SessionView[] }>("/api/v1/sessions");
    expect(body).toMatchObject({
      budgets: [{ session: "team", runs: 1, active: 0, budget: { dimensions: [{ dimension: "steps", used: 2 }] } }],
      sandbox: [{ id: "py-1", language: "python" }],
    });
    expect((await at.ask("DELETE", "/api/v1/sessions/sandbox/py-1")).status).toBe(200);
    const gone = await at.ask("DELETE", "/api/v1/sessions/sandbox/py-2");
    expect([gone.status, gone.body.error.code, destroyed]).toEqual([404, "no_such_session", ["py-1"]]);
  });

  test("who ended a session of the sandbox is recorded, and nothing where there was none", async () => {
    const sandbox = { list: () => [], destroy: async (id: string) => id === "py-1" };
    const store = new MemoryStore();
    await using at = await opened({ store, sandbox }, ["operator"]);
    const before = (await actions(store)).length;
    await at.ask("DELETE", "/api/v1/sessions/sandbox/py-1", undefined, at.as("operator"));
    await at.ask("DELETE", "/api/v1/sessions/sandbox/py-2", undefined, at.as("operator"));
    expect((await actions(store)).slice(before)).toMatchObject([
      { action_type: "SandboxSessionDestroyed", data: { session: "py-1", by: "the operator" } },
    ]);
  });

  test("health is a read of the store, and says so when that fails", async () => {
    let away = false;
    const faulty = new Proxy(new MemoryStore(), {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          if (!away) return Reflect.apply(value, target, given);
          const error = new Error("postgres://user:password@host is away");
          if (["budget", "path", "document", "head", "apply"].includes(String(name))) return Promise.reject(error);
          throw error;
        };
      },
    });
    await using at = await opened({ store: faulty });
    expect((await at.get("/health")).body).toEqual({ status: "ok", version: "1.2.3" });
    away = true;
    const sick = await at.get("/health");
    expect([sick.status, sick.body.error.code]).toEqual([503, "store_failed"]);
    const failed = await at.get("/api/v1/overview");
    expect([failed.status, failed.body.error.code]).toEqual([500, "server_failed"]);
    expect(JSON.stringify([sick.body, failed.body])).not.toContain("password");
    expect(at.errors.length).toBeGreaterThanOrEqual(2);
    away = false;
    expect((await at.get("/health")).status).toBe(200);
  });

  test("metrics are lines that Prometheus reads", async () => {
    await using at = await opened();
    await at.start("abc", TIGHT);
    await at.get("/api/v1/runs/nothing");
    const { body } = await at.get<string>("/metrics");
    for (const line of body.trim().split("\n")) {
      expect(line).toMatch(
        /^(?:# (?:HELP|TYPE) bursar_\w+ .+|bursar_\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [\d.e+-]+)$/,
      );
    }
    expect(body).toContain('bursar_runs{status="paused"} 1');
    expect(body).toContain("bursar_approvals_waiting 1");
    expect(body).toContain('bursar_active_runs_usage{dimension="steps"} 2');
    expect(body).toContain('bursar_http_requests_total{method="GET",route="/api/v1/runs/:id",status="404"} 1');
    expect(body).toContain("bursar_event_streams 0");
    expect(body).toMatch(/bursar_build_info\{version="1\.2\.3",node="v/);
    expect(body).toMatch(/bursar_store_read_seconds [\d.e-]+/);
  });
});

describe("keys of the gateway", () => {
  test("are made for a budget of their own, rotated and revoked, and all of it is recorded", async () => {
    const store = new MemoryStore();
    await using at = await opened({ store });
    const expires = Date.now() + 3_600_000;
    const made = await at.post<NewKey>("/api/v1/keys", { limits: { cost_usd: 5 }, label: "ci", expires });
    expect(made.status).toBe(201);
    const { key, secret } = made.body;
    expect(key).toMatchObject({ label: "ci", expires, status: "active" });
    expect((await store.budget(key.budget))?.scope).toBe("shared");
    const rotated = await at.post<NewKey>(`/api/v1/keys/${key.id}/rotate`, { grace_ms: 0 });
    expect(rotated.body.secret).not.toBe(secret);
    await at.ask("DELETE", `/api/v1/keys/${key.id}`);
    const { body: list } = await at.get<Items<GatewayKey>>("/api/v1/keys");
    expect(list.items).toMatchObject([{ id: key.id, status: "revoked" }]);
    expect(JSON.stringify(list)).not.toContain(secret.slice(25));
    const recorded = await actions(store);
    expect(recorded.map(({ action_type }) => action_type)).toEqual(["KeyCreated", "KeyRotated", "KeyRevoked"]);
    expect(recorded[0]?.data).toMatchObject({ key_id: key.id, by: "operator" });
    expect(JSON.stringify(recorded)).not.toContain(secret.slice(25));
  });

  test("are listed with what their budgets have used, what is held, and their limits", async () => {
    await using at = await opened();
    const { budget } = (await at.post<NewKey>("/api/v1/keys", { limits: { cost_usd: 5 } })).body.key;
    const charged = readAmounts({ cost_usd: 1.25, llm_tokens: 900 });
    const call = { budget, kind: "model", capability_id: "model:x" } as const;
    await at.store.apply([
      { op: "reserve", ...call, call: "a", asked: charged },
      { op: "commit", call: "a", used: charged },
      { op: "reserve", ...call, call: "b", asked: readAmounts({ cost_usd: 0.25 }) },
    ]);
    const { body } = await at.get<Items<object> & { gateway: boolean }>("/api/v1/keys");
    expect(body).toMatchObject({
      gateway: false,
      items: [
        {
          usage: { cost_usd: 1.25, llm_tokens: 900 },
          held: { cost_usd: 0.25 },
          dimensions: [{ dimension: "cost_usd", used: 1.25, held: 0.25, limit: 5, exhausted_at: null }],
        },
      ],
    });
  });

  test("are made for a budget that is there, or for a part of a session", async () => {
    await using at = await opened();
    using gate = new Gate({ store: at.store });
    await gate.open("team", { limits: { cost_usd: 1 }, scope: "shared" });
    expect((await at.post<NewKey>("/api/v1/keys", { budget: "team" })).body.key.budget).toBe("team");
    await at.bursar.openSession("s", { steps: 10 });
    expect((await at.post<NewKey>("/api/v1/keys", { session: "s" })).body.key.budget).toBe("session:s");
    const { budget } = (await at.post<NewKey>("/api/v1/keys", { session: "s", limits: { steps: 3 } })).body.key;
    expect((await at.store.budget(budget))?.parent).toBe("session:s");
  });

  test.each([
    ["POST", "", {}, 400],
    ["POST", "", { budget: "nothing" }, 400],
    ["POST", "", { budget: "b", limits: {} }, 400],
    ["POST", "", { limits: { cots: 1 } }, 400],
    ["POST", "", { limits: { cost_usd: 1 }, expires: 1 }, 400],
    ["POST", "", { limits: { cost_usd: 1 }, label: "x".repeat(201) }, 400],
    ["POST", "", { limits: { cost_usd: 1 }, lable: "x" }, 400],
    ["POST", "", { limits: { cost_usd: 1 }, label: "\ud800" }, 400],
    ["POST", "/nothing/rotate", {}, 404],
    ["DELETE", "/nothing", {}, 404],
  ])("%s %s %j: %d", async (method, path, body, status) => {
    await using at = await opened();
    const answer = await at.ask(method, `/api/v1/keys${path}`, body);
    expect([answer.status, typeof answer.body.error.hint]).toEqual([status, "string"]);
    expect((await at.get<Items<GatewayKey>>("/api/v1/keys")).body.items).toEqual([]);
  });
});

describe("tokens", () => {
  test("are made, listed and revoked, and all of it is recorded", async () => {
    const store = new MemoryStore();
    await using at = await opened({ store });
    const made = await at.post<{ token: Token; secret: string }>("/api/v1/tokens", { name: "ann", role: "viewer" });
    expect([made.status, made.body.token.name]).toEqual([201, "ann"]);
    const { token, secret } = made.body;
    const taken = await at.post("/api/v1/tokens", { name: "ann", role: "admin" });
    expect([taken.status, taken.body.error.code]).toEqual([409, "name_taken"]);
    await at.ask("DELETE", `/api/v1/tokens/${token.id}`);
    const again = await at.ask("DELETE", `/api/v1/tokens/${token.id}`);
    expect([again.status, again.body.error.code]).toEqual([409, "token_revoked"]);
    const { body } = await at.get<Items<Token>>("/api/v1/tokens");
    expect(body.items).toMatchObject([{ id: token.id, status: "revoked", role: "viewer" }]);
    const recorded = await actions(store);
    expect(recorded).toMatchObject([
      { action_type: "TokenCreated", data: { token_id: token.id, name: "ann", role: "viewer", by: "operator" } },
      { action_type: "TokenRevoked", data: { token_id: token.id, by: "operator" } },
    ]);
    for (const text of [JSON.stringify(body), JSON.stringify(recorded)]) expect(text).not.toContain(secret.slice(31));
  });

  test.each([
    [{ name: "", role: "viewer" }, 400],
    [{ name: "a\nb", role: "viewer" }, 400],
    [{ name: "ann", role: "king" }, 400],
    [{ name: "ann" }, 400],
    [{ name: "ann", role: "viewer", expires: 1 }, 400],
  ])("%j: %d", async (body, status) => {
    await using at = await opened();
    expect((await at.post("/api/v1/tokens", body)).status).toBe(status);
    expect((await at.ask("DELETE", "/api/v1/tokens/nothing")).status).toBe(404);
  });
});
