import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { readAmounts } from "../../src/core/input.js";
import { defineAgent } from "../../src/runs/agent.js";
import { handleHostCallGoverned } from "../../src/runs/governed.js";
import type { ExecutionHints } from "../../src/runs/hints.js";
import type { Principal } from "../../src/runs/principal.js";
import { defineTool } from "../../src/runs/tool.js";
import { Gate } from "../../src/runtime/gate.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

const talker = defineAgent("talker", async (ctx, { words }: { words: string[] }) => {
  const heard: string[] = [];
  for (const text of words) heard.push(await ctx.tool("echo", { text }));
  return heard.join(" ");
});

const OPTIONS = { id: "r", limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;
const INPUT = { words: ["a", "b", "c"] };

async function paused() {
  const theatre = new Theatre([talker]);
  const result = pausedOf(await theatre.process().run("talker", INPUT, OPTIONS));
  const [request] = await listOf(theatre.process().approvals());
  if (request === undefined) throw new Error("nobody was asked");
  return { theatre, result, request };
}

scenario("004/escalation-paused", async () => {
  const { theatre, result } = await paused();
  expect(result).toMatchObject({ status: "paused", checkpoint_id: "r/checkpoint.1", exhausted_dimension: "steps" });
  expect(result.policy).toBe("approval_required");
  expect((await theatre.process().find("r")).status).toBe("paused");
  expect(theatre.said).toEqual(["a", "b"]);
});

scenario("004/escalation-request", async () => {
  const { theatre, request } = await paused();
  expect(request).toMatchObject({ status: "pending", run: "r", kind: "budget_extension" });
  expect(request.expires - request.requested).toBe(24 * 60 * 60_000);
  expect(await theatre.events("r")).toContain("ApprovalRequested");
  // Asked once, however often somebody tries to go on without an answer.
  await theatre.process().resume("r");
  expect(await listOf(theatre.process().approvals())).toHaveLength(1);
});

scenario("004/escalation-request-dimension", async () => {
  expect((await paused()).request.exhausted_dimension).toBe("steps");
});

scenario("004/escalation-request-consumption", async () => {
  const { request } = await paused();
  expect(request.consumed).toMatchObject({ steps: 2, llm_tokens: 0, cost_usd: 0 });
});

test("a request of a run says what calls under way hold in the budget that does not suffice", async () => {
  const theatre = new Theatre([
    defineAgent("lender", async (ctx) => {
      await ctx.tool("lend", {});
      await ctx.tool("echo", { text: "a" });
      await ctx.tool("echo", { text: "b" });
    }),
  ]);
  const call = { budget: "r", call: "elsewhere", kind: "tool", capability_id: "x" } as const;
  const lend = defineTool({
    name: "lend",
    description: "Begins a call that goes on for long.",
    input: { type: "object" },
    run: async () => {
      await theatre.store.apply([{ op: "reserve", ...call, asked: readAmounts({ cost_usd: 0.25 }) }]);
      return null;
    },
  });
  const echo = defineTool({ name: "echo", description: "", input: { type: "object" }, run: () => null });
  const bursar = theatre.process({ tools: [lend, echo] });
  pausedOf(await bursar.run("lender", {}, OPTIONS));
  const [request] = await listOf(bursar.approvals());
  expect(request).toMatchObject({ exhausted_dimension: "steps", held: { cost_usd: 0.25 } });
  const asked = (await theatre.links("r")).find(({ action_type }) => action_type === "ApprovalRequested");
  expect(asked?.data.held).toEqual({ cost_usd: 0.25 });
});

scenario("004/escalation-request-proposed-extension", async () => {
  expect((await paused()).request.suggested_extension).toEqual({ steps: 1 });
});

scenario("004/escalation-decision", async () => {
  const yes = await paused();
  expect(await yes.theatre.process().approve(yes.request.id, { by: ANN })).toMatchObject({ status: "completed" });
  const other = await paused();
  await other.theatre.process().approve(other.request.id, { by: ANN, extensions: { steps: 5, cost_usd: 0.25 } });
  const { extended } = (await other.theatre.store.budget("r")) ?? {};
  expect(extended).toEqual({ steps: 5, cost_usd: 250_000_000 });
  const no = await paused();
  expect(await no.theatre.process().deny(no.request.id, { by: ANN })).toMatchObject({ status: "cancelled" });
});

scenario("004/escalation-extend-hint", async () => {
  const theatre = new Theatre([talker]);
  const hints = { budget_extend: [{ dimension: "steps", additional: 1 }] };
  expect(await theatre.process().run("talker", INPUT, { ...OPTIONS, hints })).toMatchObject({ status: "completed" });
  expect(await theatre.events("r")).toContain("Extended");
  const agent = { name: "agent", role: "agent" } as const;
  await expect(theatre.process().run("talker", INPUT, { ...OPTIONS, id: "q", hints, by: agent })).rejects.toThrow(
    "only an operator or an admin may give execution hints",
  );
});

scenario("004/escalation-extended-logged", async () => {
  const { theatre, request } = await paused();
  await theatre.process().approve(request.id, { by: ANN, reason: "worth it" });
  const extended = (await theatre.links("r")).find(({ event }) => event === "Extended");
  expect(extended?.data).toMatchObject({ dimension: "steps", additional: 1, approved_by: "ann", reason: "worth it" });
});

scenario("004/escalation-resumed", async () => {
  const { theatre, request } = await paused();
  const done = await theatre.process().approve(request.id, { by: ANN });
  expect(done).toMatchObject({ status: "completed", result: "a b c", usage: { steps: 3 } });
  // Nothing was done again.
  expect(theatre.said).toEqual(["a", "b", "c"]);
  const events = await theatre.events("r");
  expect(events.indexOf("RunResumed")).toBeGreaterThan(events.indexOf("RunPaused"));
});

scenario("004/escalation-cancelled", async () => {
  const { theatre, request } = await paused();
  const ended = await theatre.process().deny(request.id, { by: ANN, reason: "enough" });
  expect(ended).toMatchObject({ status: "cancelled", reason: "enough" });
  expect((await theatre.events("r")).at(-1)).toBe("RunCompleted");
});

scenario("004/approval-queue", async () => {
  const { theatre, request } = await paused();
  await theatre.process().request("r", "server_discovery", { url: "https://tools.example" });
  const kinds = (await listOf(theatre.process().approvals())).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(["budget_extension", "server_discovery"]);
  await theatre.process().approve(request.id, { by: ANN });
  expect((await listOf(theatre.process().approvals("approved"))).map(({ id }) => id)).toEqual([request.id]);
});

scenario("004/approval-kind-server-discovery", async () => {
  const { theatre } = await paused();
  const bursar = theatre.process();
  const asked = await bursar.request("r", "server_discovery", { url: "https://tools.example" });
  expect(asked).toMatchObject({
    kind: "server_discovery",
    status: "pending",
    action: { url: "https://tools.example" },
  });
});

scenario("004/approval-kind-capability-execution", async () => {
  const sent: string[] = [];
  const send = defineTool({
    name: "send",
    description: "Sends a letter.",
    input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
    approval: true,
    run: ({ to }: { to: string }) => {
      sent.push(to);
      return "sent";
    },
  });
  const writer = defineAgent("writer", async (ctx) => {
    const first = await ctx.tool("send", { to: "ann" });
    return [first, await ctx.tool("send", { to: "bob" }).catch((error: { code: string }) => error.code)];
  });
  const theatre = new Theatre([writer], [send]);
  const one = pausedOf(await theatre.process().run("writer", {}, { id: "r" }));
  expect(sent).toEqual([]);
  expect(one.exhausted_dimension).toBe(null);
  const two = pausedOf(await theatre.process().approve(one.approval_id ?? "", { by: ANN }));
  expect(sent).toEqual(["ann"]);
  const done = await theatre.process().deny(two.approval_id ?? "", { by: ANN });
  // A yes was for one letter, and a no for the other does not end the run.
  expect(done).toMatchObject({ status: "completed", result: ["sent", "denied"] });
  expect(sent).toEqual(["ann"]);
});

scenario("004/approval-kind-budget-extension", async () => {
  expect((await paused()).request.kind).toBe("budget_extension");
});

scenario("004/approval-budget-extension-checkpoint-id", async () => {
  const { request, result } = await paused();
  expect(request.checkpoint_id).toBe(result.checkpoint_id);
});

scenario("004/approval-budget-extension-exhausted-dimension", async () => {
  const { request } = await paused();
  expect(request).toMatchObject({ exhausted_dimension: "steps", budget: "r" });
});

scenario("004/approval-budget-extension-consumed", async () => {
  const { theatre, request } = await paused();
  expect(request.consumed).toEqual((await theatre.process().result(await theatre.process().find("r"))).usage);
});

scenario("004/approval-budget-extension-limits", async () => {
  expect((await paused()).request.limits).toMatchObject({ steps: 2, wall_clock_ms: 60_000, cost_usd: 0.5 });
});

scenario("004/approval-budget-extension-suggested-extension", async () => {
  const thinker = defineAgent("thinker", async (ctx) => {
    for (;;) await ctx.model({ prompt: "more" });
  });
  const theatre = new Theatre([thinker]);
  const policies = { cost_usd: "approval_required" } as const;
  await theatre.process().run("thinker", {}, { id: "r", limits: { cost_usd: 0.012, llm_tokens: null }, policies });
  const [money] = await listOf(theatre.process().approvals());
  // Half of the limit would be less than a cent.
  expect(money?.suggested_extension).toEqual({ cost_usd: 0.01 });
  await theatre.process().run("thinker", {}, { id: "q", limits: { llm_tokens: 300 } });
  const all = await listOf(theatre.process().approvals());
  expect(all.find(({ run }) => run === "q")?.suggested_extension).toEqual({ llm_tokens: 150 });
});

scenario("004/kernel-handle-host-call-governed", async () => {
  const { store, clock } = new Theatre([]);
  using gate = new Gate({ store, timer: clock });
  await gate.open("r", { limits: { steps: 1 } });
  const call = { budget: "r", capability_id: "search" };
  const effect = async () => ({ value: 7 });
  expect(await handleHostCallGoverned({ gate, store }, call, effect)).toMatchObject({ kind: "done", value: 7 });
  let made = false;
  const refused = await handleHostCallGoverned({ gate, store }, call, async () => {
    made = true;
    return { value: 8 };
  });
  expect(refused.kind).toBe("refused");
  expect(made).toBe(false);
});

scenario("004/kernel-validates-hints-and-budget", async () => {
  const { store, clock } = new Theatre([]);
  using gate = new Gate({ store, timer: clock });
  await gate.open("r", { limits: { steps: 0 } });
  const call = { budget: "r", capability_id: "search" };
  const effect = async () => ({ value: 7 });
  const hints = { budget_extend: [{ dimension: "steps", additional: 1 }] };
  await expect(handleHostCallGoverned({ gate, store }, call, effect, { hints })).rejects.toThrow("only an operator");
  const typo = { budget_extend: [{ dimension: "stesp", additional: 1 }] };
  await expect(handleHostCallGoverned({ gate, store }, call, effect, { hints: typo, by: ANN })).rejects.toThrow(
    "steps",
  );
  expect(await handleHostCallGoverned({ gate, store }, call, effect, { hints, by: ANN })).toMatchObject({ value: 7 });
});

test("a governed host call tells each threshold once that its reservation and its settlement have crossed", async () => {
  const { store, clock } = new Theatre([]);
  using gate = new Gate({ store, timer: clock });
  await gate.open("r", { limits: { steps: 4, cost_usd: 1, wall_clock_ms: 100, llm_tokens: null } });
  const call = { budget: "r", capability_id: "search", asked: { cost_usd: 0.9 } };
  const heard: string[] = [];
  const once = async (effect: () => Promise<{ value: number; usage: { cost_usd: number } }>) => {
    const outcome = await handleHostCallGoverned({ gate, store }, call, effect);
    heard.push(`${outcome.kind}: ${outcome.warnings.map(({ dimension, percent }) => `${dimension} ${percent}`)}`);
  };
  await once(async () => ({ value: 1, usage: { cost_usd: 0.05 } }));
  clock.advance(60);
  await once(async () => ({ value: 2, usage: { cost_usd: 0.05 } }));
  await once(() => Promise.reject(Object.assign(new Error("broken"), { usage: { cost_usd: 0.8 } })));
  await once(async () => ({ value: 4, usage: { cost_usd: 0.05 } }));
  expect(heard).toEqual(["done: ", "done: wall_clock_ms 50,steps 50", "failed: cost_usd 50,cost_usd 80", "refused: "]);
});

scenario("004/hint-budget-extend", async () => {
  const theatre = new Theatre([talker]);
  const hints = {
    budget_extend: [
      { dimension: "steps", additional: 1 },
      { dimension: "cost-usd", additional: 0.5 },
    ],
  };
  await theatre.process().run("talker", INPUT, { ...OPTIONS, hints });
  expect((await theatre.store.budget("r"))?.extended).toEqual({ steps: 1, cost_usd: 500_000_000 });
});

scenario("004/hint-budget-extend-dimension", async () => {
  const theatre = new Theatre([talker]);
  const hints = { budget_extend: [{ dimension: "stepz", additional: 1 }] };
  await expect(theatre.process().run("talker", INPUT, { ...OPTIONS, hints })).rejects.toThrow("steps");
});

scenario("004/hint-budget-extend-additional", async () => {
  const theatre = new Theatre([talker]);
  const hints = { budget_extend: [{ dimension: "steps", additional: -1 }] };
  await expect(theatre.process().run("talker", INPUT, { ...OPTIONS, hints })).rejects.toThrow("steps");
});

test("hints are given when a run is resumed too, by an operator, and those that make no sense change nothing", async () => {
  const theatre = new Theatre([talker]);
  const process = theatre.process();
  expect(await process.run("talker", INPUT, { ...OPTIONS, id: "h" })).toMatchObject({ status: "paused" });
  const one = { budget_extend: { dimension: "steps", additional: 1 } };
  const robot = { name: "robot", role: "agent" } as const;
  const resume = (hints: unknown, by: Principal = ANN) => process.resume("h", by, { hints: hints as ExecutionHints });
  await expect(resume(one, robot)).rejects.toThrow("robot is agent; only an operator or an admin may");
  await expect(resume({ budget_extended: [] })).rejects.toThrow("did you mean budget_extend?");
  await expect(resume({ budget_extend: [{ dimension: "steps", amount: 1 }] })).rejects.toThrow("amount");
  await expect(resume({ budget_extend: [{ dimension: 3, additional: 1 }] })).rejects.toThrow("dimension is 3");
  await expect(resume({ budget_extend: [{ dimension: "steps", additional: "1" }] })).rejects.toThrow(
    'adds "1" to steps',
  );
  expect((await theatre.store.budget("h"))?.extended).toEqual({});
  expect(await resume(one)).toMatchObject({ status: "completed" });
  const extended = (await theatre.links("h")).filter(({ event }) => event === "Extended").map(({ data }) => data);
  expect(extended).toMatchObject([{ dimension: "steps", additional: 1, approved_by: "ann", reason: "budget_extend" }]);
});

test("a hint that a session has no room for starts no run", async () => {
  const theatre = new Theatre([talker]);
  const process = theatre.process();
  await process.openSession("team", { steps: 3 });
  const hints = { budget_extend: [{ dimension: "steps", additional: 5 }] };
  const started = process.start("talker", INPUT, { id: "s", session: "team", limits: { steps: 2 }, hints });
  await expect(started).rejects.toThrow("no room");
  expect(await theatre.store.document("run", "s")).toBeNull();
});

test("how long a request waits is said when the run is started, whoever drives it, and counts below it too", async () => {
  const { limits, policies } = OPTIONS;
  const chief = defineAgent("chief", async (ctx) => ctx.spawn("talker", INPUT, { limits, policies }));
  const theatre = new Theatre([chief, talker]);
  await theatre.process().start("chief", null, { id: "c", approval_ms: 5000 });
  await theatre.process().start("talker", INPUT, { ...OPTIONS, id: "t", approval_ms: 7000 });
  await theatre.process().start("talker", INPUT, { ...OPTIONS, id: "u" });
  const other = theatre.process({ approval_ms: 1000 });
  for (const id of ["c", "t", "u"]) await theatre.until(other.drive(id));
  const waits = (await listOf(other.approvals())).map(({ run, expires, requested }) => [run, expires - requested]);
  expect(waits.sort()).toEqual([
    ["c.0", 5000],
    ["t", 7000],
    ["u", 1000],
  ]);
  const asked = await other.request("t", "server_discovery", { url: "https://example.com" });
  expect(asked.expires - asked.requested).toBe(7000);
  await expect(other.start("talker", INPUT, { approval_ms: -1 })).rejects.toThrow("approval_ms is -1");
});
