import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { defineAgent } from "../../src/runs/agent.js";
import { readApproval } from "../../src/runs/approval.js";
import type { Bursar } from "../../src/runs/bursar.js";
import { defineTool } from "../../src/runs/tool.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { thinned } from "../../src/views/burn-down.js";
import {
  approvalView,
  burnDown,
  chainPage,
  listApprovals,
  listRuns,
  listSteps,
  overview,
  runRow,
  runView,
  sessionViews,
} from "../../src/views/views.js";
import { ANN, Latch, pausedOf, settle, Theatre } from "../runs/stage.js";

/** Thinks so often, and waits a second after each thought; a thought costs 0.008 USD and takes 80 tokens. */
const thinker = defineAgent("thinker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) {
    await ctx.model({ prompt: String(turn) });
    await ctx.sleep(1000);
  }
  return times;
});

const chief = defineAgent("chief", async (ctx) => ctx.spawn("thinker", { times: 2 }, { fraction: 0.5 }));

const ASKING = { limits: { llm_tokens: 250 }, policies: { llm_tokens: "approval_required" } } as const;

/** A run that has had three thoughts and waits for tokens. */
async function paused(theatre: Theatre, id = "r"): Promise<{ bursar: Bursar; approval: string }> {
  const bursar = theatre.process();
  const result = pausedOf(await theatre.until(bursar.run("thinker", { times: 5 }, { id, ...ASKING })));
  return { bursar, approval: result.approval_id ?? "" };
}

test("a run that waits says what for, where every budget stands, and what it has done", async () => {
  const theatre = new Theatre([thinker]);
  const { approval } = await paused(theatre);
  const view = await runView(theatre.store, "r");
  expect(view).toMatchObject({
    id: "r",
    status: "paused",
    program: { kind: "agent", name: "thinker" },
    session: null,
    parent: null,
    waiting: [approval],
    input: { times: 5 },
    result: null,
    failure: null,
    worker: null,
    children: [],
    usage: { llm_tokens: 160, cost_usd: 0.016 },
    requests: [{ id: approval, run: "r", program: "thinker", exhausted_dimension: "llm_tokens" }],
    budgets: [{ budget: "r", owner: "run" }],
  });
  const tokens = view?.budgets[0]?.dimensions.find(({ dimension }) => dimension === "llm_tokens");
  expect(tokens).toEqual({
    dimension: "llm_tokens",
    unit: "tokens",
    used: 160,
    held: 0,
    limit: 250,
    policy: "approval_required",
    thresholds: [50, 80],
    exhausted_at: null,
  });
  const head = await theatre.store.head("r");
  expect(view?.links).toBe((head?.seq ?? 0) + 1);
  const { items } = await listSteps(theatre.store, await theatre.process().find("r"));
  expect((view?.steps ?? 0) + (view?.refused ?? 0)).toBe(items.length);
  expect(await runView(theatre.store, "nobody")).toBe(null);
});

test("while it runs, a run says who drives it and when its limits are used up; when it has ended, neither", async () => {
  const theatre = new Theatre([thinker]);
  const bursar = theatre.process({ worker: "ann's machine" });
  const limits = { llm_tokens: 8000, wall_clock_ms: 60_000, steps: null };
  const done = bursar.run("thinker", { times: 12 }, { id: "r", limits });
  for (let turn = 0; turn < 8; turn++) {
    await settle();
    theatre.clock.advance(1000);
  }
  await settle();
  const now = theatre.clock.now().instant;
  const view = await runView(theatre.store, "r");
  expect(view?.worker?.name).toBe("ann's machine");
  const at = Object.fromEntries(view?.budgets[0]?.dimensions.map((each) => [each.dimension, each.exhausted_at]) ?? []);
  expect(at.wall_clock_ms).toBe(now + 60_000 - Number(view?.usage.wall_clock_ms));
  // 80 tokens a second: what is left lasts so long, more or less.
  const left_ms = ((8000 - Number(view?.usage.llm_tokens)) / 80) * 1000;
  expect(Number(at.llm_tokens) - now).toBeGreaterThan(left_ms * 0.7);
  expect(Number(at.llm_tokens) - now).toBeLessThan(left_ms * 1.3);
  expect(at.network_egress_bytes).toBe(null);
  const soonest = Math.min(...Object.values(at).flatMap((each) => each ?? []));
  expect(view?.tightest?.exhausted_at).toBe(soonest);
  await theatre.until(done);
  const ended = await runView(theatre.store, "r");
  expect(ended).toMatchObject({ status: "completed", result: 12, worker: null, requests: [], waiting: [] });
  expect(ended?.budgets[0]?.dimensions.map(({ exhausted_at }) => exhausted_at)).toEqual([null, null, null, null, null]);
});

test("what is used up says since when", async () => {
  const theatre = new Theatre([thinker]);
  const limits = { steps: 2 };
  await theatre.until(theatre.process().run("thinker", { times: 5 }, { id: "r", limits }));
  const run = await theatre.process().find("r");
  const row = await runRow(theatre.store, run);
  expect(row).toMatchObject({ status: "failed", tightest: { dimension: "steps", used: 2, exhausted_at: run.ended } });
});

test("a request looks the same in a list, on a run and by itself, and its answer is shown", async () => {
  const theatre = new Theatre([thinker]);
  const { bursar, approval } = await paused(theatre);
  const { items, next } = await listApprovals(theatre.store, { status: "pending" });
  const document = await theatre.store.document("approval", approval);
  if (document === null) throw new Error("there is none");
  const view = await approvalView(theatre.store, readApproval(document));
  expect(items).toEqual([view]);
  expect(next).toBe(null);
  expect((await runView(theatre.store, "r"))?.requests).toEqual([view]);
  expect(view).toMatchObject({ limits: { llm_tokens: 250 }, consumed: { llm_tokens: 160 }, decision: null });
  await theatre.until(bursar.approve(approval, { by: ANN, extensions: { llm_tokens: 500 }, reason: "go on" }));
  expect((await listApprovals(theatre.store, { status: "pending" })).items).toEqual([]);
  const [decided] = (await listApprovals(theatre.store)).items;
  expect(decided).toMatchObject({ status: "approved", decision: { by: "ann", reason: "go on" } });
});

test("steps come by number, page by page, with what each has used and how it failed", async () => {
  const speaker = defineAgent("speaker", async (ctx) => {
    await ctx.tool("echo", { text: "one" });
    await ctx.tool("fail").catch(() => {});
    await ctx.model({ prompt: "three" });
    return null;
  });
  const fail = defineTool({
    name: "fail",
    description: "Fails.",
    input: {},
    run: () => {
      throw new Error("no such luck");
    },
  });
  const theatre = new Theatre([speaker], [fail]);
  await theatre.until(theatre.process().run("speaker", null, { id: "r" }));
  const run = await theatre.process().find("r");
  const first = await listSteps(theatre.store, run, { limit: 1 });
  expect(first.items).toMatchObject([{ number: 0, capability: "echo", state: "done", used: { steps: 1 } }]);
  const rest = await listSteps(theatre.store, run, { from: Number(first.next), limit: 10 });
  expect(rest.next).toBe(null);
  const all = await listSteps(theatre.store, run);
  expect([...first.items, ...rest.items]).toEqual(all.items);
  const [, failed, thought] = all.items;
  expect(failed).toMatchObject({ number: 1, capability: "fail", state: "failed" });
  expect(failed?.problem).toContain("no such luck");
  expect(thought).toMatchObject({ state: "done", used: { llm_tokens: 80, cost_usd: 0.008 }, problem: null });
  await expect(listSteps(theatre.store, run, { from: -1 })).rejects.toThrow("from");
  await expect(listSteps(theatre.store, run, { limit: 501 })).rejects.toThrow("limit");
});

test("a run is shown as it goes on: whoever looked before sees what was added", async () => {
  const latch = new Latch();
  const waiter = defineAgent("waiter", async (ctx) => {
    await ctx.tool("echo", { text: "one" });
    await ctx.tool("wait");
    await ctx.tool("echo", { text: "two" });
    return null;
  });
  const wait = defineTool({ name: "wait", description: "Waits.", input: {}, run: () => latch.opened.then(() => null) });
  const theatre = new Theatre([waiter], [wait]);
  const bursar = theatre.process();
  const done = bursar.run("waiter", null, { id: "r" });
  await settle();
  const run = await bursar.find("r");
  const before = await listSteps(theatre.store, run);
  expect(before.items.map(({ state }) => state)).toContain("in flight");
  latch.open();
  await theatre.until(done);
  const after = await listSteps(theatre.store, run);
  expect(after.items.length).toBe(before.items.length + 1);
  expect(after.items.map(({ state }) => state)).not.toContain("in flight");
});

test("the burn-down begins at nothing, knows every extension, and ends where the budget stands", async () => {
  const theatre = new Theatre([thinker]);
  const { bursar, approval } = await paused(theatre);
  theatre.clock.advance(3_600_000);
  await theatre.until(bursar.approve(approval, { by: ANN, extensions: { llm_tokens: 500 } }));
  const run = await bursar.find("r");
  expect(run.status).toBe("completed");
  const lines = await burnDown(theatre.store, run);
  const tokens = lines.find(({ dimension }) => dimension === "llm_tokens");
  expect(tokens?.points[0]).toEqual({ at: run.created, used: 0, limit: 250 });
  expect([...new Set(tokens?.points.map(({ limit }) => limit))]).toEqual([250, 750]);
  expect([...new Set(tokens?.points.map(({ used }) => used))]).toEqual([0, 80, 160, 240, 320, 400]);
  expect(tokens?.points.at(-1)).toEqual({ at: run.ended, used: 400, limit: 750 });
  const clock = lines.find(({ dimension }) => dimension === "wall_clock_ms");
  const last = clock?.points.at(-1);
  expect(last?.used).toBe(clock?.used);
  expect(Number(clock?.used)).toBeLessThan(3_600_000);
  for (const { points } of lines) {
    const instants = points.map(({ at }) => at);
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    expect(points[0]?.used).toBe(0);
  }
});

test("what a child uses counts in its parent's burn-down, and the child stands below its parent", async () => {
  const theatre = new Theatre([chief, thinker]);
  await theatre.until(theatre.process().run("chief", null, { id: "r" }));
  const run = await theatre.process().find("r");
  const tokens = (await burnDown(theatre.store, run)).find(({ dimension }) => dimension === "llm_tokens");
  expect(tokens?.points.map(({ used }) => used)).toEqual([0, 80, 160, 160]);
  const view = await runView(theatre.store, "r");
  expect(view?.children).toMatchObject([{ id: "r.0", parent: "r", program: { name: "thinker" }, status: "completed" }]);
  const child = await runView(theatre.store, "r.0");
  expect(child?.budgets.map(({ budget, owner }) => [budget, owner])).toEqual([
    ["r", "parent"],
    ["r.0", "run"],
  ]);
});

test("pages of a chain, put together, verify against its head", async () => {
  const theatre = new Theatre([thinker]);
  await paused(theatre);
  const lines: string[] = [];
  let head = null;
  for (let from: number | null = 0; from !== null; ) {
    const page = await chainPage(theatre.store, { budget: "r" }, from, 4);
    lines.push(...page.lines);
    head = page.head;
    from = page.next;
  }
  if (head === null) throw new Error("there is none");
  expect(await verifyChain(lines, { hash: sha256Hex, head })).toMatchObject({ ok: true });
  expect(lines.length).toBe(head.seq + 1);
  expect(await chainPage(theatre.store, { budget: "r" }, head.seq + 1, 4)).toEqual({ lines: [], head, next: null });
  expect(await chainPage(theatre.store, { budget: "nobody" }, 0, 4)).toEqual({ lines: [], head: null, next: null });
  await expect(chainPage(theatre.store, { budget: "r" }, 0, 0)).rejects.toThrow("limit");
});

test("the overview counts all, sums up what has not ended, and shows what waits", async () => {
  const theatre = new Theatre([chief, thinker]);
  const { approval } = await paused(theatre, "waits");
  await theatre.until(theatre.process().run("chief", null, { id: "done" }));
  await theatre.process().start("thinker", { times: 1 }, { id: "next" });
  const seen = await overview(theatre.store);
  expect(seen.runs).toEqual({ queued: 1, running: 0, paused: 1, completed: 2, failed: 0, cancelled: 0 });
  expect(seen.spending).toMatchObject({ llm_tokens: 160, cost_usd: 0.016 });
  expect(seen.waiting.map(({ id }) => id)).toEqual([approval]);
  expect(seen.active.map(({ id }) => id)).toEqual(["waits", "next"]);
  expect(seen.recent.map(({ id }) => id)).toEqual(["done"]);
});

test("runs are listed latest first, page by page, and found by status, session and words", async () => {
  const theatre = new Theatre([chief, thinker]);
  const bursar = theatre.process();
  await bursar.openSession("office", { cost_usd: 5 });
  for (let index = 0; index < 7; index++) {
    const session = index % 2 === 0 ? { session: "office" } : {};
    await bursar.start("thinker", { times: 1 }, { id: `run-${9 - index}`, ...session });
  }
  await theatre.until(bursar.run("chief", null, { id: "Boss" }));
  const { store } = theatre;
  const ids = async (options: Parameters<typeof listRuns>[1]) => {
    const page = await listRuns(store, options);
    return [...page.items.map(({ id }) => id), page.next];
  };
  expect(await ids({})).toEqual(["Boss", "run-3", "run-4", "run-5", "run-6", "run-7", "run-8", "run-9", null]);
  expect(await ids({ limit: 3 })).toEqual(["Boss", "run-3", "run-4", "run-4"]);
  expect(await ids({ limit: 5, before: "run-4" })).toEqual(["run-5", "run-6", "run-7", "run-8", "run-9", null]);
  expect(await ids({ limit: 2, children: true })).toEqual(["Boss.0", "Boss", "Boss"]);
  expect(await ids({ status: "completed" })).toEqual(["Boss", null]);
  expect(await ids({ session: "office", limit: 2 })).toEqual(["run-3", "run-5", "run-5"]);
  expect(await ids({ session: "office", limit: 2, before: "run-5" })).toEqual(["run-7", "run-9", null]);
  expect(await ids({ text: "boss" })).toEqual(["Boss.0", "Boss", null]);
  expect(await ids({ text: "THINKER", status: "completed" })).toEqual(["Boss.0", null]);
  expect(await ids({ text: "nobody" })).toEqual([null]);
  await expect(listRuns(store, { before: "nobody" })).rejects.toThrow("before");
  await expect(listRuns(store, { status: "dead" as never })).rejects.toThrow("status");
  await expect(listRuns(store, { limit: 0 })).rejects.toThrow("limit");
});

test("sessions show their budget, and how many runs they have", async () => {
  const theatre = new Theatre([thinker]);
  const bursar = theatre.process();
  await bursar.openSession("office", { cost_usd: 5 });
  await theatre.until(bursar.run("thinker", { times: 1 }, { id: "a", session: "office" }));
  await bursar.start("thinker", { times: 1 }, { id: "b", session: "office" });
  const [office, ...others] = await sessionViews(theatre.store);
  expect(others).toEqual([]);
  expect(office).toMatchObject({
    session: "office",
    runs: 2,
    active: 1,
    budget: {
      budget: "session:office",
      owner: "session",
      dimensions: [{ dimension: "cost_usd", used: 0.008, limit: 5 }],
    },
  });
});

test("what the sandbox says of an execution is shown with its step", async () => {
  const coder = defineAgent(
    "coder",
    async (ctx) => [await ctx.exec("python", "1"), await ctx.exec("python", "2")].length,
  );
  const theatre = new Theatre([coder]);
  const fuel_analysis = { consumed: 950, budget: 1000, status: "critical" };
  const error_guidance = { error_type: "OutOfFuel" };
  const said = [
    { success: true, metadata: { trap_reason: null, fuel_analysis } },
    { success: false, metadata: { trap_reason: "out_of_fuel", fuel_analysis, error_guidance } },
  ];
  const bursar = theatre.process({
    handlers: {
      exec: () => ({
        kind: "call",
        capability_id: "sandbox:python",
        call: "code",
        asked: { fuel: 1000 },
        make: async () => ({ value: said.shift() ?? null, usage: { fuel: 950 } }),
      }),
    },
  });
  await theatre.until(bursar.run("coder", null, { id: "r" }));
  const { items } = await listSteps(theatre.store, await bursar.find("r"));
  expect(items.map(({ execution }) => execution)).toEqual([
    { fuel_analysis, error_guidance: null },
    { fuel_analysis, error_guidance },
  ]);
});

test("a long burn-down is thinned out, and keeps its ends and every change of the limit", () => {
  const points = Array.from({ length: 10_001 }, (_, at) => ({ at, used: at, limit: at < 4321 ? 10 : 20 }));
  const thin = thinned(points, 500);
  expect(thin.length).toBeLessThanOrEqual(503);
  expect([thin[0], thin.at(-1)]).toEqual([points[0], points.at(-1)]);
  expect(thin.find(({ limit }) => limit === 20)).toEqual(points[4321]);
  expect(thinned(points.slice(0, 500), 500)).toEqual(points.slice(0, 500));
});

test("what is refused is no step that was made, and is counted apart", async () => {
  const theatre = new Theatre([thinker]);
  await paused(theatre);
  const { items } = await listSteps(theatre.store, await theatre.process().find("r"));
  expect(items.map(({ state }) => state)).toEqual(["done", "done", "refused"]);
  expect(await runView(theatre.store, "r")).toMatchObject({ steps: 2, refused: 1, usage: { steps: 2 } });
});

test("a clock that may run for longer than there are dates has no end in sight", async () => {
  const theatre = new Theatre([thinker]);
  const limits = { wall_clock_ms: 9_000_000_000_000_000 };
  void theatre.process().run("thinker", { times: 5 }, { id: "r", limits });
  await settle();
  const view = await runView(theatre.store, "r");
  const clock = view?.budgets[0]?.dimensions.find(({ dimension }) => dimension === "wall_clock_ms");
  expect(view?.status).toBe("running");
  expect(clock).toMatchObject({ limit: 9_000_000_000_000_000, exhausted_at: null });
});
