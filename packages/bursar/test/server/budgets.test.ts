import { describe, expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import type { Principal } from "../../src/runs/principal.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import type { BudgetView, ChainPage } from "../../src/views/views.js";
import { opened, type Told } from "./scene.js";

type Opened = Awaited<ReturnType<typeof opened>>;

interface Made {
  readonly key: { readonly id: string; readonly budget: string };
}

const ANN: Principal = { name: "ann", role: "operator" };
const SESSION = "/api/v1/budgets/session:team";

/** A session of five dollars with a key in it, which has two of them. */
async function keyIn(at: Opened, limits: object = { cost_usd: 2 }): Promise<string> {
  await at.bursar.openSession("team", { cost_usd: 5, steps: 10 });
  const { body } = await at.post<Made>("/api/v1/keys", { session: "team", limits });
  return body.key.budget;
}

const limitOf = ({ dimensions }: BudgetView, id: string) => dimensions.find(({ dimension }) => dimension === id)?.limit;

describe("a budget that is no run's", () => {
  test("is extended by an operator, who stands in its chain with his reason", async () => {
    await using at = await opened({ requireLogin: true }, ["operator", "agent", "viewer"]);
    await at.bursar.openSession("team", { cost_usd: 5 });
    const wish = { extensions: { cost_usd: 0.5 }, reason: "one more report" };
    for (const role of ["agent", "viewer"] as const) {
      expect((await at.post(`${SESSION}/extend`, wish, at.as(role))).status).toBe(403);
    }
    const { status, body } = await at.post<BudgetView>(`${SESSION}/extend`, wish, at.as("operator"));
    expect([status, body.budget, body.owner, limitOf(body, "cost_usd")]).toEqual([200, "session:team", "session", 5.5]);
    const lines: string[] = [];
    for await (const line of at.store.chain("session:team")) lines.push(line);
    expect(lines.filter((line) => line.includes('"approved_by":"the operator"'))).toEqual([
      expect.stringContaining('"reason":"one more report"'),
    ]);
  });

  test("of a key is extended as far as the one above has room, and the refusal says how much that is and what to do", async () => {
    await using at = await opened();
    const budget = await keyIn(at);
    const extend = <Body>(id: string, cost_usd: number) =>
      at.post<Body>(`/api/v1/budgets/${id}/extend`, { extensions: { cost_usd } });
    const { body } = await extend<BudgetView>(budget, 1);
    expect([body.owner, limitOf(body, "cost_usd")]).toEqual(["shared", 3]);
    const refused = await extend<Told>(budget, 7);
    expect([refused.status, refused.body.error.code]).toEqual([409, "no_room"]);
    expect(refused.body.error.message).toContain("budget session:team has no room for it, with 5 left");
    expect(refused.body.error.hint).toContain("POST /api/v1/budgets/:id/extend");
    expect((await extend(encodeURIComponent("session:team"), 9)).status).toBe(200);
    expect((await extend(budget, 7)).status).toBe(200);
  });

  test("takes a key again when it was exhausted and is extended as the hint says", async () => {
    await using at = await opened();
    await at.bursar.openSession("team", { steps: 1 });
    const key = { session: "team", limits: { steps: 1 } };
    await at.bursar.run("talker", { words: ["a"] }, { session: "team" });
    const refused = await at.post("/api/v1/keys", key);
    expect([refused.status, refused.body.error.code]).toEqual([409, "exhausted"]);
    expect(refused.body.error.hint).toContain("POST /api/v1/budgets/:id/extend");
    expect((await at.post(`${SESSION}/extend`, { extensions: { steps: 5 } })).status).toBe(200);
    expect((await at.post("/api/v1/keys", key)).status).toBe(201);
  });

  test.each([
    ["/api/v1/budgets/nobody/extend", { extensions: { steps: 1 } }, 404, "no_such_budget"],
    [`${SESSION}/extend`, {}, 400, "invalid_input"],
    [`${SESSION}/extend`, { extensions: {} }, 400, "invalid_input"],
    [`${SESSION}/extend`, { extensions: { cots_usd: 1 } }, 400, "invalid_input"],
    [`${SESSION}/extend`, { extensions: { steps: -1 } }, 400, "invalid_input"],
    [`${SESSION}/extend`, { extensions: { llm_tokens: 5 } }, 400, "invalid_input"],
    [`${SESSION}/extend`, { extensions: { steps: 1 }, reason: 7 }, 400, "invalid_input"],
    ["/api/v1/budgets/bursar:server/extend", { extensions: { steps: 5 } }, 400, "invalid_input"],
  ])("%s %j: %d %s, and nothing is added", async (path, body, status, code) => {
    await using at = await opened();
    await keyIn(at);
    const answer = await at.post(path, body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.body.error.hint).not.toBe("");
    expect((await at.store.budget("session:team"))?.extended).toEqual({});
    expect(at.errors).toEqual([]);
  });
});

describe("the chain of a budget that is no run's", () => {
  test("is given in pages with its head, and as a whole that can be verified", async () => {
    await using at = await opened({ requireLogin: true }, ["viewer", "admin"]);
    await at.bursar.openSession("team", { cost_usd: 5 });
    for (const cost_usd of [1, 2, 3]) await at.bursar.extend("session:team", { cost_usd }, { by: ANN });
    const viewer = at.as("viewer");
    const pages: ChainPage[] = [];
    for (let next: number | null = 0; next !== null; next = pages.at(-1)?.next ?? null) {
      pages.push((await at.get<ChainPage>(`${SESSION}/chain?from=${next}&limit=3`, viewer)).body);
    }
    expect(pages.map(({ lines, next }) => [lines.length, next])).toEqual([
      [3, 3],
      [1, null],
    ]);
    const whole = await at.get<string>(`${SESSION}/chain.jsonl`, viewer);
    expect(whole.headers.get("content-disposition")).toContain("session_team.jsonl");
    const lines = whole.body.trim().split("\n");
    expect(lines).toEqual(pages.flatMap((page) => page.lines));
    const head = pages[0]?.head ?? undefined;
    expect(head).toMatchObject({ chain: "session:team", seq: 3 });
    expect(await verifyChain(lines, { hash: sha256Hex, ...(head && { head }) })).toMatchObject({ ok: true });
  });

  test("is that of the session for a key in one, and a run's own for a run", async () => {
    await using at = await opened();
    const budget = await keyIn(at);
    const headOf = async (id: string) => (await at.get<ChainPage>(`/api/v1/budgets/${id}/chain`)).body.head?.chain;
    expect(await headOf(budget)).toBe("session:team");
    const { id } = await at.start("a");
    expect(await headOf(id)).toBe(id);
  });

  test("is not there for a budget that is not, and the server's own is for operators, by its own route", async () => {
    await using at = await opened({ requireLogin: true }, ["viewer", "agent", "operator"]);
    for (const path of ["chain", "chain.jsonl"]) {
      const missing = await at.get(`/api/v1/budgets/nobody/${path}`, at.as("viewer"));
      expect([missing.status, missing.body.error.code]).toEqual([404, "no_such_budget"]);
      for (const role of ["viewer", "agent"] as const) {
        for (const id of ["bursar:server", "bursar%3Aserver"]) {
          const { status, body } = await at.get(`/api/v1/budgets/${id}/${path}`, at.as(role));
          expect([status, body.error.code]).toEqual([403, "forbidden"]);
        }
      }
    }
    expect((await at.get("/api/v1/budgets/bursar:tenant/chain", at.as("viewer"))).status).toBe(404);
  });
});

test("keys are listed with what the budget of each has saved", async () => {
  await using at = await opened();
  const budget = await keyIn(at);
  await at.post("/api/v1/keys", { session: "team" });
  const data = { budget, kind: "cache", saved_usd: 0.5, call_id: "c", model: "m" };
  await at.store.apply([{ op: "record", budget, action: { action_type: "Saved", data } }]);
  const own = { budget: "session:team", kind: "cache", saved_usd: 0.25, call_id: "d", model: "m" };
  await at.store.apply([{ op: "record", budget: "session:team", action: { action_type: "Saved", data: own } }]);
  const { body } = await at.get<{ items: readonly { budget: string; saved_usd: number }[] }>("/api/v1/keys");
  expect(Object.fromEntries(body.items.map((key) => [key.budget, key.saved_usd]))).toEqual({
    [budget]: 0.5,
    "session:team": 0.75,
  });
});
