import { describe, expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import type { BurnDown, ChainPage, Page, RunRow, RunView, StepView } from "../../src/views/views.js";
import { opened, TIGHT } from "./scene.js";

describe("runs", () => {
  test("are started, listed and shown, with their steps, their burn-down and their chain", async () => {
    await using at = await opened();
    const started = await at.post<RunView>("/api/v1/runs", {
      program: "talker",
      input: { words: ["a", "b"] },
      id: "one",
    });
    expect([started.status, started.body.id, started.body.started_by]).toEqual([201, "one", "operator"]);
    await at.still("one");
    const { body: run } = await at.get<RunView>("/api/v1/runs/one");
    expect(run).toMatchObject({ status: "completed", result: 2, steps: 2, usage: { steps: 2 } });
    const { body: list } = await at.get<Page<RunRow>>("/api/v1/runs?status=completed&limit=10");
    expect(list).toMatchObject({ items: [{ id: "one" }], next: null });
    const { body: steps } = await at.get<Page<StepView>>("/api/v1/runs/one/steps?limit=1");
    expect(steps.items).toMatchObject([{ state: "done" }]);
    expect(steps.next).not.toBeNull();
    const { body: burnt } = await at.get<Page<BurnDown>>("/api/v1/runs/one/burndown");
    expect(burnt.items.map(({ dimension }) => dimension)).toContain("steps");
    const { body: chain } = await at.get<ChainPage>("/api/v1/runs/one/chain?from=1&limit=2");
    expect([chain.lines.length, chain.next]).toEqual([2, 3]);
    const { body: lines } = await at.get<string>("/api/v1/runs/one/chain.jsonl");
    expect(await verifyChain(lines.trim().split("\n"), { hash: sha256Hex })).toMatchObject({ ok: true });
    const again = await at.post<RunView>("/api/v1/runs", { program: "talker", input: { words: [] }, id: "one" });
    expect([again.status, again.body.result]).toEqual([200, 2]);
  });

  test("are cancelled by whoever may, and that is recorded", async () => {
    await using at = await opened();
    const { id } = await at.start("abc", TIGHT);
    const { body: run } = await at.post<RunView>(`/api/v1/runs/${id}/cancel`, { reason: "enough" });
    expect(run).toMatchObject({ status: "cancelled", cancel: { by: "operator", reason: "enough" } });
  });

  test("that stand still go on when they are extended and resumed", async () => {
    await using at = await opened();
    const { id } = await at.start("abcd", TIGHT);
    const extended = await at.post<RunView>(`/api/v1/runs/${id}/extend`, { extensions: { steps: 10 }, reason: "more" });
    expect(extended.body.budgets.at(-1)?.dimensions).toContainEqual(
      expect.objectContaining({ dimension: "steps", limit: 12 }),
    );
    await at.post(`/api/v1/runs/${id}/resume`);
    expect(await at.still(id)).toMatchObject({ status: "completed", result: 4 });
    const again = await at.post(`/api/v1/runs/${id}/resume`);
    expect([again.status, again.body.error.code]).toEqual([409, "run_ended"]);
  });

  test("are given hints when they are started and resumed, by operators alone", async () => {
    await using at = await opened({ requireLogin: true }, ["agent", "operator"]);
    const hints = (additional: unknown) => ({ hints: { budget_extend: [{ dimension: "steps", additional }] } });
    const wanted = { program: "talker", input: { words: ["a", "b", "c", "d"] }, id: "hinted", ...TIGHT };
    const operator = at.as("operator");
    const refused = await at.post("/api/v1/runs", { ...wanted, ...hints(1) }, at.as("agent"));
    expect([refused.status, refused.body.error.code]).toEqual([403, "forbidden"]);
    for (const wrong of [hints("1"), { hints: { budget_extends: [] } }, hints(-1)]) {
      expect((await at.post("/api/v1/runs", { ...wanted, ...wrong }, operator)).status).toBe(400);
    }
    await at.post("/api/v1/runs", { ...wanted, ...hints(1) }, operator);
    expect(await at.still("hinted")).toMatchObject({ status: "paused" });
    // One entry needs no list.
    const one = { hints: { budget_extend: { dimension: "steps", additional: 1 } } };
    const resume = (headers: Record<string, string>) => at.post("/api/v1/runs/hinted/resume", one, headers);
    expect((await resume(at.as("agent"))).status).toBe(403);
    expect((await at.store.budget("hinted"))?.extended).toEqual({ steps: 1 });
    expect((await resume(operator)).status).toBe(200);
    expect(await at.still("hinted")).toMatchObject({ status: "completed", result: 4 });
    const { body: chain } = await at.get<string>("/api/v1/runs/hinted/chain.jsonl", operator);
    expect(
      chain.match(/"approved_by":"the operator","budget":"hinted","dimension":"steps","reason":"budget_extend"/g),
    ).toHaveLength(2);
  });
});
