import { expect, test } from "vitest";
import { readAmounts } from "../../src/core/input.js";
import { defineAgent, type SpawnBudget } from "../../src/runs/agent.js";
import type { Bursar } from "../../src/runs/bursar.js";
import { requestExtension } from "../../src/runs/extension-request.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

/** Thinks so often; each time costs 0.008 USD, and at most 0.01. */
const thinker = defineAgent("thinker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.model({ prompt: String(turn) });
  return times;
});

const fanout = defineAgent("fanout", async (ctx, { n, budget }: { n: number; budget: SpawnBudget }) => {
  const all = Array.from({ length: n }, () => ctx.spawn("thinker", { times: 1 }, budget));
  const ends = await Promise.allSettled(all);
  return ends.map((end) => (end.status === "fulfilled" ? end.value : String((end.reason as Error).message)));
});

const POLICIES = { cost_usd: "approval_required" } as const;

async function fanned(n: number, budget: SpawnBudget, limits = { cost_usd: 0.025, steps: 200 }) {
  const theatre = new Theatre([fanout, thinker]);
  const bursar = theatre.process();
  const terms = { id: "r", limits: { ...limits, llm_tokens: null }, policies: POLICIES };
  const result = pausedOf(await theatre.until(bursar.run("fanout", { n, budget }, terms)));
  return { theatre, bursar, result, requests: await listOf(bursar.approvals()) };
}

test("twenty children that share a budget ask once for more of it, and one yes lets all of them go on", async () => {
  const { theatre, bursar, result, requests } = await fanned(20, "share");
  expect(requests).toHaveLength(1);
  const [request] = requests;
  // Two calls have passed, of 0.01 at most and 0.008 in the end; eighteen wait.
  expect(request).toMatchObject({
    budget: "r",
    exhausted_dimension: "cost_usd",
    needs: { cost_usd: 0.01 },
    needs_together: { cost_usd: 0.18 },
    left: { cost_usd: 0.009 },
    least_extension: { cost_usd: 0.001 },
    message: "18 calls wait. The largest may need up to $0.01, all of them together up to $0.18; $0.009 is left.",
  });
  expect(request?.waiting).toHaveLength(18);
  expect(result.approvals).toEqual([request?.id]);
  const done = await theatre.until(bursar.approve(result.approval_id ?? "", { by: ANN }));
  expect(done).toMatchObject({ run_id: expect.stringMatching(/^r\.\d+$/), status: "completed" });
  const end = await theatre.until(bursar.outcome("r"));
  expect(end).toMatchObject({ status: "completed", result: Array.from({ length: 20 }, () => 1) });
  expect(await listOf(bursar.approvals())).toEqual([]);
  const asked = (await theatre.events("r")).filter(
    (each) => each === "ApprovalRequested" || each === "ApprovalDecided",
  );
  expect(asked).toEqual(["ApprovalRequested", "ApprovalDecided"]);
});

test("children whose own budgets are used up ask for each of them", async () => {
  const { requests } = await fanned(
    3,
    { limits: { cost_usd: 0.005 }, policies: POLICIES },
    { cost_usd: 0.5, steps: 50 },
  );
  expect(requests.map(({ budget }) => budget).sort()).toEqual(["r.0", "r.1", "r.2"]);
  expect(requests.map(({ message }) => message)[0]).toBe("The next model call may need up to $0.01; $0.005 is left.");
});

test("children with limits of their own that meet their parent's ask once, for the parent's", async () => {
  const { requests, bursar, theatre } = await fanned(6, { limits: { cost_usd: 0.02 } });
  expect(requests).toMatchObject([{ budget: "r" }]);
  expect(requests[0]?.waiting.length).toBeGreaterThan(1);
  await bursar.decide(requests[0]?.id ?? "", "approve", { by: ANN });
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed" });
});

test("a child that meets its own limit and its parent's asks for the outer one first, so that each yes finds room", async () => {
  const limits = { cost_usd: 0.005, steps: 50 };
  const { requests, bursar, theatre } = await fanned(1, { limits: { cost_usd: 0.005 }, policies: POLICIES }, limits);
  expect(requests).toMatchObject([{ budget: "r" }]);
  await bursar.decide(requests[0]?.id ?? "", "approve", { by: ANN });
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "paused" });
  const [inner, ...others] = await listOf(bursar.approvals());
  expect([inner, ...others]).toMatchObject([{ budget: "r.0" }]);
  await bursar.decide(inner?.id ?? "", "approve", { by: ANN });
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed" });
});

test("nobody is asked about an outer budget that others only hold something of", async () => {
  const theatre = new Theatre([thinker]);
  const bursar = theatre.process();
  await bursar.openSession("team", { llm_tokens: 200 });
  const held = { budget: "session:team", call: "held", kind: "tool", capability_id: "x" } as const;
  await theatre.store.apply([{ op: "reserve", ...held, asked: readAmounts({ llm_tokens: 150 }) }]);
  const terms = { id: "r", session: "team", limits: { llm_tokens: 50 } };
  expect(await theatre.until(bursar.run("thinker", { times: 1 }, terms))).toMatchObject({ status: "paused" });
  expect(await listOf(bursar.approvals())).toMatchObject([{ budget: "r", exhausted_dimension: "llm_tokens" }]);
});

test("a no is told to all that wait, by whom and why", async () => {
  const { theatre, bursar, requests } = await fanned(5, "share");
  await bursar.decide(requests[0]?.id ?? "", "deny", { by: ANN, reason: "too dear" });
  const end = await theatre.until(bursar.drive("r"));
  const denied = { approval_id: requests[0]?.id, dimension: "cost_usd" };
  for (const { run } of requests[0]?.waiting ?? []) {
    const child = await bursar.find(run ?? "");
    expect(child).toMatchObject({ status: "cancelled", cancel: { by: "ann", reason: "too dear", denied } });
    expect(await bursar.result(child)).toMatchObject({ denied: { by: "ann", reason: "too dear", ...denied } });
  }
  expect(JSON.stringify(end.result)).toContain("was denied by ann: too dear (cost_usd)");
  const links = (await theatre.links("r")).filter(({ event }) => event === "Denied");
  expect(links.map(({ data }) => data.checkpoint_id)).toEqual(
    requests[0]?.waiting.map(({ checkpoint_id }) => checkpoint_id),
  );
});

test("an amount that lets nothing go on is refused with the smallest that does", async () => {
  const { bursar, requests, theatre } = await fanned(5, "share");
  const id = requests[0]?.id ?? "";
  const little = bursar.decide(id, "approve", { by: ANN, extensions: { cost_usd: 0.0009 } });
  await expect(little).rejects.toMatchObject({
    code: "too_little",
    message:
      "$0.0009 more of cost_usd lets no waiting call go on; add at least $0.001 (cost_usd=+0.001); nothing was decided",
  });
  await expect(bursar.decide(id, "approve", { by: ANN, extensions: { steps: 5 } })).rejects.toMatchObject({
    code: "too_little",
  });
  expect((await theatre.store.budget("r"))?.extended).toEqual({});
  await bursar.decide(id, "approve", { by: ANN, extensions: { cost_usd: 0.001 } });
  // It suffices for one of them; the others ask again, once.
  await theatre.until(bursar.drive("r"));
  const again = await listOf(bursar.approvals());
  expect(again).toHaveLength(1);
  expect(again[0]?.id).not.toBe(id);
});

test("of two answers at once one holds, and what joins meanwhile does not stand in the way", async () => {
  const { bursar, theatre, requests } = await fanned(5, "share");
  const id = requests[0]?.id ?? "";
  const other = theatre.process();
  const answers = await Promise.allSettled([
    bursar.decide(id, "approve", { by: ANN }),
    requestExtension(theatre.store, { budget: "r", dimension: "cost_usd", action: {}, asked: 20_000_000 }),
    other.decide(id, "deny", { by: { name: "bob", role: "operator" } }),
  ]);
  const decisions = [answers[0], answers[2]];
  expect(decisions.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(decisions.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "decided" } });
  await expect(bursar.decide(id, "approve", { by: ANN })).rejects.toMatchObject({ code: "decided" });
});

test("a run that is cancelled leaves the request to the others, and the last one takes it back", async () => {
  const { bursar, theatre, requests } = await fanned(4, "share");
  const [request] = requests;
  const [first, ...others] = (request?.waiting ?? []).map(({ run }) => run ?? "");
  await theatre.until(bursar.cancel(first ?? "", ANN));
  const [left] = await listOf(bursar.approvals());
  expect(left).toMatchObject({ id: request?.id, run: others[0] });
  expect(left?.waiting.map(({ run }) => run)).toEqual(others);
  await theatre.until(bursar.cancel("r", ANN));
  expect(await listOf(bursar.approvals())).toEqual([]);
  expect(await listOf(bursar.approvals("withdrawn"))).toMatchObject([{ id: request?.id }]);
});

test("two runs of a session and a client of the same budget wait for one answer", async () => {
  const theatre = new Theatre([thinker]);
  const bursar = theatre.process();
  await bursar.openSession("team", { llm_tokens: 200 });
  for (const id of ["a", "b"]) await bursar.start("thinker", { times: 1 }, { id, session: "team" });
  const spent = { llm_tokens: 200 as never };
  await theatre.store.apply([{ op: "charge", budget: "session:team", call: "before", used: spent }]);
  for (const id of ["a", "b"]) expect(await theatre.until(bursar.drive(id))).toMatchObject({ status: "paused" });
  const wish = { budget: "session:team", dimension: "llm_tokens", action: {}, asked: 70 };
  const { id } = await requestExtension(theatre.store, wish);
  const all = await listOf(bursar.approvals());
  expect(all).toMatchObject([{ id, needs: { llm_tokens: 100 }, needs_together: { llm_tokens: 270 } }]);
  expect(all[0]).toMatchObject({ least_extension: { llm_tokens: 70 }, suggested_extension: { llm_tokens: 370 } });
  // Whoever answers one of them has both of them driven on.
  expect(await theatre.until(bursar.approve("b/checkpoint.1", { by: ANN }))).toMatchObject({ run_id: "b" });
  for (const run of ["a", "b"]) expect(await theatre.until(bursar.drive(run))).toMatchObject({ status: "completed" });
});

test("a request that expires is asked anew for all that still wait for it", async () => {
  const { bursar, theatre, requests } = await fanned(4, "share");
  const [request] = requests;
  theatre.clock.advance(24 * 60 * 60_000 + 1);
  await expect(bursar.decide(request?.id ?? "", "approve", { by: ANN })).rejects.toMatchObject({ code: "expired" });
  const [first] = request?.waiting ?? [];
  await theatre.until(bursar.resume(first?.run ?? "", ANN));
  const asked = await listOf(bursar.approvals());
  expect(asked).toHaveLength(1);
  expect(asked[0]?.id).not.toBe(request?.id);
  expect(new Set(asked[0]?.waiting.map(({ run }) => run))).toEqual(new Set(request?.waiting.map(({ run }) => run)));
  await bursar.decide(asked[0]?.id ?? "", "approve", { by: ANN });
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed" });
});

test("a yes that comes while another child is about to stand still reaches it too", async () => {
  const { theatre, bursar, requests } = await fanned(2, "share", { cost_usd: 0.005, steps: 50 });
  await bursar.decide(requests[0]?.id ?? "", "approve", { by: ANN, extensions: { cost_usd: 0.5 } });
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed" });
  expect(await pendingOf(bursar)).toBe(0);
});

async function pendingOf(bursar: Bursar): Promise<number> {
  return (await listOf(bursar.approvals())).length;
}
