import { openStore, type Store } from "bursar";
import { expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import type { Estimate } from "../../src/foresight/estimate.js";
import { Keys } from "../../src/gateway/keys.js";
import { recordSaved } from "../../src/models/batch/settling.js";
import { savedUsd } from "../../src/models/reuse/saved.js";
import { defineAgent } from "../../src/runs/agent.js";
import { putRun, readRun, record } from "../../src/runs/record.js";
import { defineTool } from "../../src/runs/tool.js";
import type { MemoryStore } from "../../src/stores/memory.js";
import { keyViews, listRuns, overview, readStory, runOutlook, runView } from "../../src/views/views.js";
import { Latch, settle, Theatre } from "../runs/stage.js";
import { sqliteEngine } from "../stores/engines.js";

const idle = defineAgent("idle", async () => null);

/** Leaves word in the chain of a budget that something was saved. */
async function save(store: Store, budget: string, data: JsonObject): Promise<void> {
  await store.apply([{ op: "record", budget, action: { action_type: "Saved", data } }]);
}

async function estimated(store: MemoryStore, id: string, estimate: Estimate): Promise<void> {
  const document = await store.document("run", id);
  if (document === null) throw new Error(`there is no run ${id}`);
  await store.apply([putRun({ ...readRun(document), estimate })]);
}

test("what is held for calls under way stands apart from what is used: in rows, on the run and in the overview", async () => {
  const latch = new Latch();
  const slow = defineTool({
    name: "slow",
    description: "Takes its time.",
    input: {},
    quote: { cost_usd: 0.05 },
    meter: () => ({ cost_usd: 0.02 }),
    run: () => latch.opened,
  });
  const worker = defineAgent("worker", async (ctx) => {
    await ctx.tool("slow");
    return null;
  });
  const theatre = new Theatre([worker], [slow]);
  const done = theatre.process().run("worker", null, { id: "r", limits: { cost_usd: 1, steps: 9 } });
  await settle();
  const { items } = await listRuns(theatre.store);
  expect(items).toMatchObject([{ held: { cost_usd: 0.05, steps: 1 } }]);
  expect(items[0]?.usage.cost_usd).toBe(0);
  expect(await runView(theatre.store, "r")).toMatchObject({ held: { cost_usd: 0.05 }, saved_usd: 0 });
  const during = await overview(theatre.store);
  expect(during.held).toEqual({ cost_usd: 0.05, steps: 1 });
  expect(during.spending).not.toHaveProperty("cost_usd");

  latch.open();
  await theatre.until(done);
  expect((await listRuns(theatre.store)).items).toMatchObject([{ held: {}, usage: { cost_usd: 0.02 } }]);
  expect((await overview(theatre.store)).held).toEqual({});
});

test("what was saved is summed up with what is below a run, whoever shares the chain", async () => {
  const child = defineAgent("child", async () => null);
  const parent = defineAgent("parent", async (ctx) => {
    await ctx.spawn("child", null, { fraction: 0.5 });
    await ctx.spawn("child", null, "share");
    return null;
  });
  const theatre = new Theatre([parent, child]);
  const { store } = theatre;
  await theatre.until(theatre.process().run("parent", null, { id: "r" }));
  const [own, shared] = (await runView(store, "r"))?.children ?? [];
  if (own === undefined || shared === undefined) throw new Error("there are no children");
  await save(store, "r", { run_id: "r", kind: "cache", saved_usd: 0.1 });
  await save(store, "r", { run_id: shared.id, kind: "in_flight", saved_usd: 0.2 });
  await save(store, own.id, { run_id: own.id, kind: "batch", saved_usd: 0.004 });
  expect((await runView(store, "r"))?.saved_usd).toBe(0.304);
  expect((await runView(store, own.id))?.saved_usd).toBe(0.004);
  expect((await runView(store, shared.id))?.saved_usd).toBe(0.2);
  expect((await overview(store)).saved_usd).toBe(0.304);
  const story = await readStory(store, await theatre.process().find("r"));
  expect(story.saved_usd).toBe(0.1);
  expect(story.events.filter(({ what }) => what === "Saved")).toHaveLength(1);
});

test("what a client of the gateway has saved is part of the overview, each chain once and read no further than it has grown", async () => {
  const theatre = new Theatre([idle]);
  const { store } = theatre;
  const grant = { kind: "limits", limits: {} } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "team", scope: "shared", grant } }]);
  const keys = new Keys(store);
  await keys.create({ budget: "team", label: "one" });
  await keys.create({ budget: "team", label: "two" });
  await save(store, "team", { kind: "cache", saved_usd: 0.25 });
  expect((await overview(store)).saved_usd).toBe(0.25);
  await save(store, "team", { kind: "embeddings", saved_usd: 0.5 });
  // What is no amount saves nothing, and takes nothing back.
  await save(store, "team", { kind: "cache", saved_usd: -7 });
  await save(store, "team", { kind: "cache", saved_usd: "much" });
  expect((await overview(store)).saved_usd).toBe(0.75);
});

test("whoever sums up, what is no amount saves nothing, and who names no budget means that of the chain", async () => {
  const { store } = new Theatre([idle]);
  const grant = { kind: "limits", limits: {} } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "team", scope: "shared", grant } }]);
  await store.apply([{ op: "open", parent: "team", opening: { id: "ann", scope: "shared", grant } }]);
  const keys = new Keys(store);
  await keys.create({ budget: "team", label: "one" });
  await save(store, "team", { budget: "team", kind: "cache", saved_usd: 0.1, call_id: "c1" });
  await save(store, "ann", { budget: "ann", kind: "cache", saved_usd: 0.2, call_id: "c2" });
  await save(store, "team", { budget: "team", kind: "cache", saved_usd: 1e300, call_id: "c3" });
  await save(store, "team", { budget: "team", kind: "cache", saved_usd: -7, call_id: "c4" });
  await save(store, "team", { budget: "team", kind: "cache", saved_usd: "much", call_id: "c5" });
  expect(await savedUsd(store, "team")).toBe(0.3);
  expect((await overview(store)).saved_usd).toBe(0.3);
  // Links that name neither a budget nor a call are as many calls.
  await save(store, "team", { kind: "cache", saved_usd: 0.4 });
  await save(store, "team", { kind: "cache", saved_usd: 0.4 });
  expect(await savedUsd(store, "team")).toBe(1.1);
  expect(await savedUsd(store, "ann")).toBe(0.2);
  expect((await overview(store)).saved_usd).toBe(1.1);
});

test("one call is counted once: where its settlement was written twice, and where two keys lie on one path", async () => {
  const theatre = new Theatre([idle]);
  const { store } = theatre;
  const grant = { kind: "limits", limits: {} } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "team", scope: "shared", grant } }]);
  await store.apply([{ op: "open", parent: "team", opening: { id: "ann", scope: "shared", grant } }]);
  await store.apply([{ op: "open", parent: "ann", opening: { id: "desk", scope: "shared", grant } }]);
  const keys = new Keys(store);
  for (const budget of ["team", "ann", "desk"]) await keys.create({ budget, label: budget });
  await save(store, "ann", { budget: "ann", kind: "cache", saved_usd: 0.25, call_id: "c1" });
  await save(store, "ann", { budget: "ann", kind: "cache", saved_usd: 0.25, call_id: "c1" });
  expect((await overview(store)).saved_usd).toBe(0.25);
  // An acknowledgement may be lost between two looks as well.
  await save(store, "ann", { budget: "ann", kind: "cache", saved_usd: 0.25, call_id: "c1" });
  await save(store, "desk", { budget: "desk", kind: "in_flight", saved_usd: 0.5, call_id: "c2" });
  await save(store, "team", { budget: "team", kind: "cache", saved_usd: 1, call_id: "c3" });
  expect((await overview(store)).saved_usd).toBe(1.75);
  expect(await savedUsd(store, "team")).toBe(1.75);
  expect(await savedUsd(store, "ann")).toBe(0.75);
});

test("what each key has saved stands with it, and a chain that many of them share is read once", async () => {
  const { store } = new Theatre([idle]);
  const grant = { kind: "limits", limits: {} } as const;
  const open = (id: string, parent: string | null) =>
    store.apply([{ op: "open", parent, opening: { id, scope: "shared", grant } }]);
  for (const id of ["team", "other"]) await open(id, null);
  for (const id of ["ann", "bob"]) await open(id, "team");
  const keys = new Keys(store);
  for (const budget of ["team", "ann", "bob", "bob", "other"]) await keys.create({ budget, label: budget });
  await save(store, "ann", { budget: "ann", kind: "cache", saved_usd: 0.25, call_id: "c1" });
  await save(store, "ann", { budget: "ann", kind: "cache", saved_usd: 0.25, call_id: "c1" });
  await save(store, "bob", { budget: "bob", kind: "in_flight", saved_usd: 0.5, call_id: "c2" });
  await save(store, "team", { kind: "embeddings", saved_usd: 1 });
  const views = async () =>
    Object.fromEntries((await keyViews(store, await keys.list())).map(({ label, saved_usd }) => [label, saved_usd]));
  const reads = vi.spyOn(store, "chain");
  expect(await views()).toEqual({ team: 1.75, ann: 0.25, bob: 0.5, other: 0 });
  expect(reads.mock.calls.filter(([chain, from]) => chain === "team" && from === 0)).toHaveLength(1);
  reads.mockClear();
  await save(store, "bob", { budget: "bob", kind: "cache", saved_usd: 0.125, call_id: "c3" });
  expect(await views()).toEqual({ team: 1.875, ann: 0.25, bob: 0.625, other: 0 });
  expect(reads.mock.calls.filter(([, from]) => from === 0)).toEqual([]);
  expect((await overview(store)).saved_usd).toBe(1.875);
});

test("a chain that claims a budget to be above itself is summed up all the same", async () => {
  await using engine = await sqliteEngine();
  const url = engine.fresh();
  {
    await using store = await openStore(url);
    const grant = { kind: "limits", limits: {} } as const;
    await store.apply([{ op: "open", parent: null, opening: { id: "team", scope: "shared", grant } }]);
    await store.apply([{ op: "open", parent: "team", opening: { id: "x", scope: "shared", grant } }]);
    await save(store, "team", { budget: "x", kind: "cache", saved_usd: 0.5 });
    await save(store, "team", { budget: "team", kind: "cache", saved_usd: 0.25 });
    expect(await savedUsd(store, "team")).toBe(0.75);
  }
  await engine.tamper(url, `UPDATE links SET lines = replace(lines, '"parent":"team"', '"parent":"x"')`);
  await using store = await openStore(url);
  expect(await savedUsd(store, "team")).toBe(0.25);
});

test("what a batch has saved counts wherever savings are summed up, each call once", async () => {
  const theatre = new Theatre([idle]);
  const { store } = theatre;
  const grant = { kind: "limits", limits: {} } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "team", scope: "shared", grant } }]);
  await new Keys(store).create({ budget: "team", label: "one" });
  const about = { budget: "team", run: null, provider: "openai", model: "small" };
  const item = (id: string) => ({ ...about, id: `item:own:${id}`, call: id });
  await store.apply([recordSaved(item("a"), 250_000_000n), recordSaved(item("b"), 500_000_000n)]);
  await store.apply([recordSaved(item("b"), 500_000_000n)]);
  expect((await overview(store)).saved_usd).toBe(0.75);
  expect(await savedUsd(store, "team")).toBe(0.75);
});

test("a run with an estimate shows what was expected, and while it runs what lies before it", async () => {
  const thinker = defineAgent("thinker", async (ctx) => {
    for (let turn = 0; turn < 20; turn++) {
      await ctx.model({ prompt: String(turn) });
      await ctx.sleep(1000);
    }
    return null;
  });
  const theatre = new Theatre([thinker]);
  const { store, clock } = theatre;
  const limits = { cost_usd: 0.2, wall_clock_ms: 600_000, steps: null };
  const bursar = theatre.process();
  await bursar.start("thinker", null, { id: "r", limits });
  const source = "history" as const;
  const dimensions = {
    steps: { median: 40, upper: 50, source },
    cost_usd: { median: 160_000_000, upper: 176_000_000.4, source },
  };
  await estimated(store, "r", { dimensions, opinions: [], made: 0 });
  expect(await runView(store, "r")).toMatchObject({ status: "queued", outlook: null });
  const done = bursar.drive("r");
  for (let turn = 0; turn < 8; turn++) {
    await settle();
    clock.advance(1000);
  }
  await settle();
  const view = await runView(store, "r");
  expect(view?.expected).toEqual([
    { dimension: "steps", unit: "calls", median: 40, upper: 50, source },
    { dimension: "cost_usd", unit: "USD", median: 0.16, upper: 0.176000001, source },
  ]);
  expect(view?.outlook).toMatch(/^at this rate cost_usd is exhausted in \d+ s, step \d+ of about 40$/);
  expect(await runOutlook(store, "r")).toBe(view?.outlook);
  await theatre.until(done);
  expect(await runView(store, "r")).toMatchObject({ outlook: null, expected: [{ dimension: "steps" }, {}] });
  expect(await runOutlook(store, "r")).toBe(null);
  expect(await runOutlook(store, "nobody")).toBe(null);
});

test("what was decided to spend less is part of the story, as everything else that was decided", async () => {
  const theatre = new Theatre([idle]);
  await theatre.until(theatre.process().run("idle", null, { id: "r" }));
  const run = await theatre.process().find("r");
  const from = { model: "large", quote: { cost_usd: 0.4 } };
  const to = { model: "small", quote: { cost_usd: 0.1 } };
  await theatre.store.apply([
    record(run, "TierSwitched", { from, to, reason: "too little is left" }),
    record(run, "Batched", { calls: 3 }),
  ]);
  const { events } = await readStory(theatre.store, run);
  expect(events.slice(-2).map(({ what }) => what)).toEqual(["TierSwitched", "Batched"]);
});

test("a request of a run that has not begun shows what it is predicted to take, and no other request does", async () => {
  const spender = defineAgent("spender", async (ctx) => {
    for (let turn = 0; turn < 4; turn++) await ctx.model({ prompt: String(turn) });
    return null;
  });
  const theatre = new Theatre([spender]);
  const bursar = theatre.process();
  for (let past = 0; past < 3; past++) await theatre.until(bursar.run("spender", null));
  await theatre.until(bursar.run("spender", null, { id: "r", limits: { cost_usd: 0.02 }, preflight: "ask" }));
  const view = await runView(theatre.store, "r");
  const [request] = view?.requests ?? [];
  expect(view?.expected.find(({ dimension }) => dimension === "cost_usd")).toMatchObject({ median: 0.032 });
  const cost = request?.prediction?.dimensions.find(({ dimension }) => dimension === "cost_usd");
  expect(cost).toMatchObject({ unit: "USD", median: 0.032, limit: 0.02, source: "history" });
  expect(cost?.missing).toBeCloseTo(Number(cost?.upper) - 0.02, 9);
  expect(request?.prediction?.sources).toMatchObject([{ source: "history", samples: 3 }]);
  // In the order of the table, whatever the order of the record.
  const order = request?.prediction?.dimensions.map(({ dimension }) => dimension) ?? [];
  expect(order.indexOf("steps")).toBeLessThan(order.indexOf("cost_usd"));
  const limits = { llm_tokens: 100 };
  const policies = { llm_tokens: "approval_required" } as const;
  await theatre.until(bursar.run("spender", null, { id: "s", limits, policies, preflight: "warn" }));
  expect((await runView(theatre.store, "s"))?.requests).toMatchObject([{ prediction: null }]);
});
