import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

const talker = defineAgent("talker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

/** Goes on until it may not any more, and says why. */
const eager = defineAgent("eager", async (ctx) => {
  for (let turn = 0; ; turn++) {
    try {
      await ctx.model({ prompt: String(turn) });
    } catch (error) {
      const { code, data } = error as RunError;
      return { turns: turn, code, budget: data.budget ?? null };
    }
  }
});

const words = (text: string) => ({ words: text.split("") });

test("what a session has left clamps each run that is started in it", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { steps: 5, cost_usd: 0.1 });
  await theatre.until(bursar.run("talker", words("ab"), { id: "one", session: "s", limits: { steps: 4 } }));
  await bursar.start("talker", words("abcdef"), { id: "two", session: "s", limits: { steps: 100, cost_usd: 7 } });
  expect((await theatre.store.budget("one"))?.limits).toMatchObject({ steps: 4, cost_usd: 100_000_000 });
  expect((await theatre.store.budget("two"))?.limits).toMatchObject({ steps: 3, cost_usd: 100_000_000 });
  const { status } = await theatre.until(bursar.drive("two"));
  expect(status).toBe("failed");
  expect(theatre.said).toEqual(["a", "b", "a", "b", "c"]);
  expect((await theatre.store.budget("session:s"))?.used.steps).toBe(5);
});

test("runs at the same time share what the session has, to the last step", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { steps: 7 });
  const runs = [1, 2, 3, 4].map((number) =>
    bursar.run("talker", words("abcd"), { id: `r${number}`, session: "s", limits: { steps: 4 } }),
  );
  const results = await theatre.until(Promise.all(runs));
  expect(theatre.said).toHaveLength(7);
  expect((await theatre.store.budget("session:s"))?.used.steps).toBe(7);
  expect(results.filter(({ status }) => status === "failed").length).toBeGreaterThan(0);
  const steps = results.reduce((sum, { usage }) => sum + Number(usage.steps), 0);
  expect(steps).toBe(7);
});

test("a session's usage is there for the next process, and for a run that is started later", async () => {
  const theatre = new Theatre([talker]);
  const first = theatre.process();
  await first.openSession("s", { steps: 3 });
  await theatre.until(first.run("talker", words("ab"), { id: "one", session: "s" }));
  await first[Symbol.asyncDispose]();
  const second = theatre.process();
  // Opened again, with whatever limits, it is the one that is there.
  await second.openSession("s", { steps: 1000 });
  const result = await theatre.until(second.run("talker", words("xyz"), { id: "two", session: "s" }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "steps" }, usage: { steps: 1 } });
  expect(theatre.said).toEqual(["a", "b", "x"]);
});

test("a session that another run exhausts meanwhile stops a run under way, and says which budget it was", async () => {
  const theatre = new Theatre([eager, talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { cost_usd: 0.1 });
  const limits = { steps: null, llm_tokens: null, cost_usd: null, wall_clock_ms: null };
  const results = await theatre.until(
    Promise.all(["one", "two"].map((id) => bursar.run("eager", null, { id, session: "s", limits }))),
  );
  const session = await theatre.store.budget("session:s");
  expect(session?.used.cost_usd).toBeLessThanOrEqual(100_000_000);
  expect(session?.used.cost_usd).toBe(theatre.prompts.length * 8_000_000);
  expect(theatre.prompts.length).toBeGreaterThanOrEqual(11);
  const turns = results.map((result) => ("result" in result ? (result.result as { turns: number }).turns : 0));
  expect(turns.every((each) => each > 0)).toBe(true);
});

test("a session that asks for approval is the one that is extended", async () => {
  const theatre = new Theatre([talker, eager]);
  const bursar = theatre.process();
  // Tokens ask for approval by themselves.
  await bursar.openSession("s", { llm_tokens: 100 });
  const options = { id: "r", session: "s", limits: { llm_tokens: 5000 } };
  const paused = pausedOf(await theatre.until(bursar.run("eager", null, options)));
  expect(paused.exhausted_dimension).toBe("llm_tokens");
  // The run's own limit was clamped to the session's, which has no room for more.
  await expect(bursar.approve(paused.checkpoint_id, { by: ANN, extensions: { llm_tokens: 500 } })).rejects.toThrow(
    "session:s has no room",
  );
  expect((await bursar.find("r")).status).toBe("paused");
  await bursar.extend("session:s", { llm_tokens: 500 }, { by: ANN });
  const approving = bursar.approve(paused.checkpoint_id, { by: ANN, extensions: { llm_tokens: 500 } });
  expect((await theatre.until(approving)).usage.llm_tokens).toBeGreaterThan(100);
});

test("a dimension that a session does not name clamps nothing", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { steps: 5 });
  await bursar.start("talker", words("a"), { id: "r", session: "s", limits: { cost_usd: 3, fuel: null } });
  const limits = (await theatre.store.budget("r"))?.limits;
  expect(limits).toMatchObject({ steps: 5, cost_usd: 3_000_000_000, llm_tokens: 100_000 });
  expect(limits?.fuel).toBe(undefined);
});

test("a session that is not open is named in the error, and nothing is started", async () => {
  const theatre = new Theatre([talker]);
  await expect(theatre.process().start("talker", words("a"), { id: "r", session: "nobody" })).rejects.toThrow(
    "session nobody is not open; open it with its limits first",
  );
  expect(await theatre.store.document("run", "r")).toBe(null);
});

test("a run cannot be started in a session that has nothing left, and is told that this is why", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { steps: 1 });
  await theatre.until(bursar.run("talker", words("a"), { id: "one", session: "s" }));
  const starting = bursar.start("talker", words("b"), { id: "two", session: "s" });
  await expect(starting).rejects.toThrow(/session.*exhausted|exhausted.*session/);
  expect(await theatre.store.document("run", "two")).toBe(null);
});

test("children of a run count in its session", async () => {
  const parent = defineAgent("parent", async (ctx) => ctx.spawn("talker", words("abcdef")).catch(() => "stopped"));
  const theatre = new Theatre([parent, talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { steps: 4 });
  await theatre.until(bursar.run("parent", null, { id: "r", session: "s", limits: { steps: 100 } }));
  const used = (await theatre.store.budget("session:s"))?.used.steps ?? 0;
  expect(used).toBe(theatre.said.length + 1);
  expect(used).toBeLessThanOrEqual(4);
});

test("sessions do not know of each other", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { steps: 1 });
  await bursar.openSession("t", { steps: 2 });
  await theatre.until(bursar.run("talker", words("a"), { id: "one", session: "s" }));
  expect(await theatre.until(bursar.run("talker", words("bc"), { id: "two", session: "t" }))).toMatchObject({
    status: "completed",
  });
  expect((await listOf(theatre.store.documents("run", "completed"))).length).toBe(2);
});
