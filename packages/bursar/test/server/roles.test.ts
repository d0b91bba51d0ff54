import { describe, expect, test } from "vitest";
import { openBursar } from "../../src/runs/bursar.js";
import { SERVER_CHAIN } from "../../src/runtime/server-chain.js";
import { openServer } from "../../src/server/server.js";
import { ROLES, type Role, Tokens } from "../../src/server/tokens.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { opened, TIGHT } from "./scene.js";

const HOUR_MS = 3_600_000;

/** What each route takes at least; a route that is missing here fails the test. */
const LEAST: Readonly<Record<string, Role | null>> = {
  "GET /api/v1/me": "viewer",
  "POST /api/v1/login": null,
  "POST /api/v1/logout": null,
  "GET /api/v1/overview": "viewer",
  "GET /api/v1/programs": "viewer",
  "GET /api/v1/sessions": "viewer",
  "DELETE /api/v1/sessions/sandbox/{id}": "operator",
  "GET /api/v1/config": "viewer",
  "GET /api/v1/runs": "viewer",
  "POST /api/v1/runs": "agent",
  "POST /api/v1/estimates": "agent",
  "GET /api/v1/runs/{id}": "viewer",
  "GET /api/v1/runs/{id}/steps": "viewer",
  "GET /api/v1/runs/{id}/burndown": "viewer",
  "GET /api/v1/runs/{id}/chain": "viewer",
  "GET /api/v1/runs/{id}/chain.jsonl": "viewer",
  "GET /api/v1/server/chain": "operator",
  "GET /api/v1/server/chain.jsonl": "operator",
  "POST /api/v1/runs/{id}/cancel": "operator",
  "POST /api/v1/runs/{id}/resume": "operator",
  "POST /api/v1/runs/{id}/extend": "operator",
  "POST /api/v1/budgets/{id}/extend": "operator",
  "GET /api/v1/budgets/{id}/chain": "viewer",
  "GET /api/v1/budgets/{id}/chain.jsonl": "viewer",
  "GET /api/v1/approvals": "viewer",
  "GET /api/v1/approvals/{id}": "viewer",
  "POST /api/v1/approvals/{id}/approve": "operator",
  "POST /api/v1/approvals/{id}/deny": "operator",
  "GET /api/v1/keys": "viewer",
  "POST /api/v1/keys": "operator",
  "POST /api/v1/keys/{id}/rotate": "operator",
  "DELETE /api/v1/keys/{id}": "operator",
  "GET /api/v1/tokens": "admin",
  "POST /api/v1/tokens": "admin",
  "DELETE /api/v1/tokens/{id}": "admin",
  "GET /api/v1/events": "viewer",
  "GET /api/v1/runs/{id}/events": "viewer",
  "GET /health": null,
  "GET /metrics": "viewer",
  "GET /openapi.json": null,
};

describe("roles", () => {
  test("are asked for by every route that there is", async () => {
    await using at = await opened();
    expect(at.description.operations.toSorted()).toEqual(Object.keys(LEAST).toSorted());
  });

  test.each(Object.entries(LEAST))("%s takes %s at least", async (operation, least) => {
    await using at = await opened({ requireLogin: true }, ROLES);
    const [method = "", path = ""] = operation.split(" ");
    // There is nothing of this name, so nothing happens to those who may; and streams would never end.
    const asked = path.replace("{id}", "nothing").replace(/\/events$/, "/events?from=x");
    const ask = (headers = {}) => at.ask(method, asked, { wrong: true }, headers);
    if (least !== null) expect((await ask()).status).toBe(401);
    for (const role of ROLES) {
      const { status, body } = await ask(at.as(role));
      const may = least === null || ROLES.indexOf(role) >= ROLES.indexOf(least);
      if (may) expect([role, status]).not.toEqual([role, expect.toBeOneOf([401, 403])]);
      else expect([role, status, body.error.code]).toEqual([role, 403, "forbidden"]);
    }
  });

  test("an agent starts runs, may only tighten, and decides nothing; the chain has its name", async () => {
    await using at = await opened({ requireLogin: true }, ["agent", "operator"]);
    const agent = at.as("agent");
    const started = await at.post<{ id: string }>("/api/v1/runs", { program: "talker", input: { words: [] } }, agent);
    expect(started).toMatchObject({ status: 201, body: { started_by: "the agent" } });
    const wide = await at.post("/api/v1/runs", { program: "talker", limits: { steps: 1_000_000 } }, agent);
    expect([wide.status, wide.body.error.code]).toEqual([403, "forbidden"]);
    const { id, pause } = await at.start("abc", TIGHT);
    const path = `/api/v1/approvals/${pause?.approvals[0]}/approve`;
    expect((await at.post(path, {}, agent)).status).toBe(403);
    expect((await at.post(path, {}, at.as("operator"))).status).toBe(200);
    const { body: chain } = await at.get<string>(`/api/v1/runs/${id}/chain.jsonl`, agent);
    expect(chain).toContain('"approved_by":"the operator"');
  });
});

describe("a server on this machine", () => {
  test("knows everybody as its operator, and wants no login", async () => {
    await using at = await opened();
    expect((await at.get("/api/v1/me")).body).toEqual({ name: "operator", role: "admin", login: false });
  });

  test("takes those who show a token for who they are", async () => {
    await using at = await opened({}, ["agent"]);
    const { body } = await at.get("/api/v1/me", at.as("agent"));
    expect(body).toEqual({ name: "the agent", role: "agent", login: false });
    const wrong = { authorization: `${at.as("agent").authorization}x` };
    expect((await at.get("/api/v1/me", wrong)).status).toBe(401);
    // Other programs may have their own reasons to send such a header.
    expect((await at.get("/api/v1/me", { authorization: "Bearer sk-anything" })).status).toBe(200);
  });
});

describe("a server for other machines", () => {
  test("does not open as long as nobody could use it, and says what to do", async () => {
    const store = new MemoryStore();
    const bursar = openBursar({ store });
    const open = () => openServer({ store, bursar, host: "0.0.0.0", port: 0 });
    await expect(open()).rejects.toThrow(/bursar tokens create/);
    await new Tokens(store).create({ name: "looker", role: "viewer" });
    await expect(open()).rejects.toThrow(/bursar tokens create/);
    await new Tokens(store).create({ name: "ann", role: "admin" });
    await using server = await open();
    const url = server.url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${url}/api/v1/me`)).status).toBe(401);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test("is one that others find by a name of their own, wherever it listens", async () => {
    await expect(opened({ url: "https://bursar.example" })).rejects.toThrow(/bursar tokens create/);
    await using at = await opened({ url: "https://bursar.example" }, ["admin"]);
    expect((await at.get("/api/v1/me")).status).toBe(401);
    await using local = await opened({ url: "http://[::1]:9" });
    expect((await local.get("/api/v1/me")).status).toBe(200);
  });

  test("takes a token until it expires or is revoked", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened({ store, requireLogin: true }, ["admin"]);
    const { instant } = clock.now();
    const { secret, token } = await at.server.tokens.create({
      name: "ann",
      role: "viewer",
      expires: new Date(instant + HOUR_MS),
    });
    const ann = { authorization: `Bearer ${secret}` };
    expect((await at.get("/api/v1/me", ann)).body).toEqual({ name: "ann", role: "viewer", login: true });
    clock.advance(HOUR_MS);
    expect((await at.get("/api/v1/me", ann)).status).toBe(401);
    expect((await at.get("/api/v1/me", at.as("admin"))).status).toBe(200);
    await at.revoke("admin");
    clock.advance(1000);
    expect((await at.get("/api/v1/me", at.as("admin"))).status).toBe(401);
    await expect(at.server.tokens.revoke(token.id)).resolves.toMatchObject({ status: "revoked" });
  });

  test("takes no token out of an address", async () => {
    await using at = await opened({ requireLogin: true }, ["admin"]);
    for (const name of ["token", "access_token", "key"]) {
      expect((await at.get(`/api/v1/me?${name}=${at.secretOf("admin")}`)).status).toBe(401);
    }
  });
});

describe("a login", () => {
  test("is a cookie that no script reads and no other site sends, until logout", async () => {
    await using at = await opened({ requireLogin: true }, ["operator"]);
    const answer = await at.post("/api/v1/login", { token: at.secretOf("operator") });
    expect(answer.body).toEqual({ name: "the operator", role: "operator", login: true });
    const set = answer.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^bursar_login=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    expect(set).not.toContain(at.secretOf("operator").slice(31));
    const cookie = `other=1; ${set.split(";")[0]}`;
    expect((await at.get("/api/v1/me", { cookie })).body).toMatchObject({ name: "the operator" });
    const out = await at.post("/api/v1/logout", {}, { cookie });
    expect(out.headers.get("set-cookie")).toMatch(/^bursar_login=; .*Max-Age=0$/);
    expect((await at.get("/api/v1/me", { cookie })).status).toBe(401);
  });

  test("behind HTTPS is bound to the host", async () => {
    await using at = await opened({ requireLogin: true, url: "https://bursar.example" }, ["admin"]);
    const answer = await at.post("/api/v1/login", { token: at.secretOf("admin") });
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-bursar_login=.*; Secure/);
  });

  test("ends with its token, and by itself", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened({ store, requireLogin: true }, ["admin", "viewer"]);
    const login = async (role: Role) => {
      const { headers } = await at.post("/api/v1/login", { token: at.secretOf(role) });
      return { cookie: (headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
    };
    const [admin, viewer] = [await login("admin"), await login("viewer")];
    await at.revoke("viewer");
    const statuses = async () => [await at.get("/api/v1/me", admin), await at.get("/api/v1/me", viewer)];
    expect((await statuses()).map(({ status }) => status)).toEqual([200, 401]);
    clock.advance(12 * HOUR_MS);
    expect((await statuses()).map(({ status }) => status)).toEqual([401, 401]);
  });

  test("is not kept from those who have a token by somebody who guesses at the same address", async () => {
    const store = new MemoryStore({ clock: new FakeClock() });
    await using at = await opened({ store, requireLogin: true }, ["admin", "viewer"]);
    const login = async (token: string) => (await at.post("/api/v1/login", { token })).status;
    const wellFormed = `bursar_token_${"0".repeat(16)}_${"A".repeat(43)}`;
    for (let each = 0; each < 15; each++) expect(await login(at.secretOf("viewer"))).toBe(200);
    // Those who were right have cost the others nothing.
    for (let each = 0; each < 10; each++) expect(await login(wellFormed)).toBe(401);
    for (const guess of [wellFormed, "guess", `${at.secretOf("admin")}x`]) expect(await login(guess)).toBe(429);
    expect(await login(at.secretOf("admin"))).toBe(200);
  });

  test("pushes out others of the same token alone, however often it is repeated", async () => {
    await using at = await opened({ requireLogin: true, rate: { burst: 1000, per_second: 1000 } }, ["admin", "viewer"]);
    const login = async (role: Role) => {
      const { headers } = await at.post("/api/v1/login", { token: at.secretOf(role) });
      return { cookie: (headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
    };
    const [admin, first] = [await login("admin"), await login("viewer")];
    const status = async (cookie: { cookie: string }) => (await at.get("/api/v1/me", cookie)).status;
    for (let each = 0; each < 99; each++) await login("viewer");
    expect(await status(first)).toBe(200);
    const last = await login("viewer");
    expect([await status(admin), await status(first), await status(last)]).toEqual([200, 401, 200]);
  });

  test("that fails is slowed down and recorded, and never so often that it fills the chain", async () => {
    const clock = new FakeClock();
    const store = new MemoryStore({ clock });
    await using at = await opened({ store, requireLogin: true }, ["admin"]);
    const links = async () => {
      const lines: string[] = [];
      for await (const line of store.chain(SERVER_CHAIN)) lines.push(line);
      return lines.filter((line) => line.includes('"LoginFailed"'));
    };
    const statuses = new Map<number, number>();
    for (let each = 0; each < 30; each++) {
      const { status } = await at.post("/api/v1/login", { token: "bursar_token_guess" });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(statuses).toEqual(
      new Map([
        [401, 10],
        [429, 20],
      ]),
    );
    expect(await links()).toHaveLength(10);
    // A token in a header is a guess like any other.
    const guess = { authorization: "Bearer bursar_token_guess" };
    expect((await at.get("/api/v1/me", guess)).status).toBe(429);
    expect((await at.get("/api/v1/me", at.as("admin"))).status).toBe(200);
    for (let each = 0; each < 100; each++) {
      clock.advance(6000);
      await at.get("/api/v1/me", guess);
    }
    const recorded = await links();
    expect(recorded.length).toBeLessThanOrEqual(31);
    expect(recorded.at(-1)).toMatch(/"passed_over":[1-9]/);
    expect(recorded.join()).not.toContain("guess");
  });
});
