import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import { readAmounts } from "../../src/core/input.js";
import { readApproval } from "../../src/runs/approval.js";
import { openBursar } from "../../src/runs/bursar.js";
import { requestExtension } from "../../src/runs/extension-request.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const ANN = { name: "ann", role: "operator" } as const;
const WISH = { budget: "team", dimension: "cost_usd", action: {} };

async function scene() {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  await new Gate({ store }).open("team", { scope: "shared", limits: { cost_usd: 2 } });
  return { clock, store, bursar: openBursar({ store }) };
}

test("one request is made for one dimension of one budget, however often it is asked for", async () => {
  const { store } = await scene();
  const all = await Promise.all(Array.from({ length: 5 }, () => requestExtension(store, WISH)));
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  const others = { ...WISH, dimension: "llm_tokens" };
  expect((await requestExtension(store, others)).id).not.toBe(all[0]?.id);
});

test.each(["constructor", "__proto__", "dollars", ""])(
  "%j is no dimension, and nobody is asked for it",
  async (dimension) => {
    const { store, bursar } = await scene();
    await expect(requestExtension(store, { ...WISH, dimension })).rejects.toMatchObject({ field: "dimension" });
    for await (const request of bursar.approvals()) throw new Error(`asked for ${request.exhausted_dimension}`);
  },
);

/** A call of somebody else that has not come back yet. */
const ELSEWHERE = { budget: "team", call: "elsewhere", kind: "model", capability_id: "model:x" } as const;

test("what others hold is said apart from what is used, and recorded", async () => {
  const { store } = await scene();
  await store.apply([{ op: "reserve", ...ELSEWHERE, asked: readAmounts({ cost_usd: 1.5 }) }]);
  const { id, consumed, held } = await requestExtension(store, WISH);
  expect([consumed.cost_usd, held]).toEqual([0, { cost_usd: 1.5 }]);
  const links: { action_type: string; data: JsonObject }[] = [];
  for await (const line of store.chain("team")) links.push(JSON.parse(line));
  expect(links.at(-1)).toMatchObject({ action_type: "ApprovalRequested", data: { held: { cost_usd: 1.5 } } });
  // What was asked stays as it was asked.
  await store.apply([{ op: "release", call: "elsewhere" }]);
  const document = await store.document("approval", id);
  expect(document === null ? null : readApproval(document).held).toEqual({ cost_usd: 1.5 });
});

test("a request that was stored before holds were kept holds nothing", async () => {
  const { store } = await scene();
  const { id } = await requestExtension(store, WISH);
  const document = await store.document("approval", id);
  if (document === null) throw new Error("nobody was asked");
  const { held: _, ...body } = document.body;
  expect(readApproval({ ...document, body }).held).toEqual({});
});

test("a yes extends the budget, and the next request is a new one", async () => {
  const { store, bursar } = await scene();
  const { id, suggested_extension } = await requestExtension(store, WISH);
  expect(suggested_extension).toEqual({ cost_usd: 1 });
  await expect(bursar.approve(id, { by: ANN })).rejects.toMatchObject({ code: "no_run" });
  expect(await bursar.decide(id, "approve", { by: ANN, reason: "month's end" })).toMatchObject({ status: "approved" });
  expect((await store.budget("team"))?.extended).toMatchObject({ cost_usd: 1_000_000_000 });
  await expect(bursar.decide(id, "deny", { by: ANN })).rejects.toMatchObject({ code: "decided" });
  expect((await requestExtension(store, WISH)).id).not.toBe(id);
});

test("a no extends nothing, and only who may decide does", async () => {
  const { store, bursar } = await scene();
  const { id } = await requestExtension(store, WISH);
  const agent = { name: "bot", role: "agent" } as const;
  await expect(bursar.decide(id, "approve", { by: agent })).rejects.toMatchObject({ code: "forbidden" });
  expect(await bursar.decide(id, "deny", { by: ANN })).toMatchObject({ status: "denied" });
  expect((await store.budget("team"))?.extended).toEqual({});
});

test("a request that nobody has answered in time is asked anew", async () => {
  const { clock, store, bursar } = await scene();
  const { id } = await requestExtension(store, WISH, { expires_ms: 1000 });
  clock.advance(1001);
  const { id: next } = await requestExtension(store, WISH, { expires_ms: 1000 });
  expect(next).not.toBe(id);
  await expect(bursar.decide(id, "approve", { by: ANN })).rejects.toMatchObject({ code: "expired" });
});
