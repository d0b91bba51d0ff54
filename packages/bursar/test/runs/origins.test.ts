import { expect, test } from "vitest";
import { verifyChain } from "../../src/core/chain/verify.js";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool } from "../../src/runs/tool.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

/** Each test is named after a fault of the project that the fourth specification comes from. */

const talker = defineAgent("talker", async (ctx, { words }: { words: string[] }) => {
  const lucky = await ctx.random();
  for (const text of words) await ctx.tool("echo", { text });
  return { words: words.length, lucky };
});

const thinker = defineAgent("thinker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.model({ prompt: String(turn) });
  return times;
});

const words = (text: string) => ({ words: text.split("") });
const ASKING = { id: "r", limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;

test("a limit of 0 means unlimited: here it means nothing", async () => {
  for (const dimension of ["llm_tokens", "cost_usd"]) {
    const theatre = new Theatre([thinker, talker]);
    const options = { limits: { [dimension]: 0 }, policies: { [dimension]: "hard_stop" } } as const;
    const result = await theatre.until(theatre.process().run("thinker", { times: 1 }, options));
    expect(result).toMatchObject({ status: "failed", failure: { dimension } });
    expect(theatre.prompts).toEqual([]);
    // What needs none of it goes on.
    const other = await theatre.until(theatre.process().run("talker", words("a"), options));
    expect(other.status).toBe("completed");
  }
});

test("cost limits below a tenth of a cent are cut to 0, which means unlimited: here they are what they are", async () => {
  const cheap = defineTool({
    name: "cheap",
    description: "Costs 0.0003 USD.",
    input: {},
    quote: { cost_usd: 0.0003 },
    run: () => "done",
  });
  const buyer = defineAgent("buyer", async (ctx) => [await ctx.tool("cheap"), await ctx.tool("cheap")]);
  const theatre = new Theatre([buyer], [cheap]);
  const result = await theatre.until(theatre.process().run("buyer", null, { limits: { cost_usd: 0.0005 } }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" }, usage: { cost_usd: 0.0003 } });
});

test("a warning on an early dimension masks the exhaustion of a later one: here all are looked at", async () => {
  const theatre = new Theatre([thinker]);
  // The second call crosses half of the steps, and is too much for the money.
  const limits = { steps: 4, cost_usd: 0.015, llm_tokens: null };
  const result = await theatre.until(theatre.process().run("thinker", { times: 2 }, { id: "r", limits }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" }, usage: { steps: 1 } });
});

test("soft_warn on steps masks everything after it for good: here it masks nothing", async () => {
  const theatre = new Theatre([thinker]);
  const policies = { steps: "soft_warn" } as const;
  const options = { id: "r", limits: { steps: 1, cost_usd: 0.03, llm_tokens: null }, policies };
  const result = await theatre.until(theatre.process().run("thinker", { times: 9 }, options));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" }, usage: { steps: 3 } });
  const exhausted = (await theatre.links("r")).filter(({ event }) => event === "Exhausted").map(({ data }) => data);
  expect(exhausted.map(({ dimension }) => dimension)).toEqual(["steps", "cost_usd"]);
});

test("resume begins with nothing used and the default policy: here all that was used and agreed still counts", async () => {
  const theatre = new Theatre([talker]);
  const policies = { steps: "approval_required", cost_usd: "soft_warn" } as const;
  await theatre.until(theatre.process().run("talker", words("abcd"), { ...ASKING, policies }));
  const before = await theatre.store.budget("r");
  const again = pausedOf(
    await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN, extensions: { steps: 1 } })),
  );
  expect(again.usage.steps).toBe(3);
  const after = await theatre.store.budget("r");
  expect(after?.policies).toEqual(before?.policies);
  expect(after?.limits).toEqual(before?.limits);
});

test("resume evaluates the plan from the top: here nothing is done twice, and chance falls as it fell", async () => {
  const seen: number[] = [];
  const gambler = defineAgent("gambler", async (ctx) => {
    seen.push(await ctx.random());
    for (const text of ["a", "b", "c", "d"]) await ctx.tool("echo", { text });
    return null;
  });
  const theatre = new Theatre([gambler]);
  await theatre.until(theatre.process().run("gambler", null, ASKING));
  await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN, extensions: { steps: 2 } }));
  expect(theatre.said).toEqual(["a", "b", "c", "d"]);
  expect(seen).toHaveLength(2);
  expect(seen[0]).toBe(seen[1]);
});

test("a checkpoint lives in memory alone: here another process goes on with it", async () => {
  const theatre = new Theatre([talker]);
  const first = theatre.process();
  await theatre.until(first.run("talker", words("abc"), ASKING));
  await first[Symbol.asyncDispose]();
  expect(await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN }))).toMatchObject({
    status: "completed",
    usage: { steps: 3 },
  });
});

test("whoever tries again after a failure gets a fresh budget: here a second try is charged like the first", async () => {
  let turn = 0;
  const shaky = defineTool({
    name: "shaky",
    description: "Fails at first.",
    input: {},
    quote: { cost_usd: 0.1 },
    run: () => {
      if (++turn < 3) throw new Error("try again");
      return "done";
    },
  });
  const stubborn = defineAgent("stubborn", async (ctx) => {
    for (;;) {
      try {
        return await ctx.tool("shaky");
      } catch (error) {
        if ((error as RunError).code !== "failed") throw error;
      }
    }
  });
  const theatre = new Theatre([stubborn], [shaky]);
  const enough = await theatre.until(theatre.process().run("stubborn", null, { limits: { cost_usd: 0.3 } }));
  expect(enough).toMatchObject({ status: "completed", usage: { cost_usd: 0.3, steps: 3 } });
  turn = 0;
  const short = await theatre.until(theatre.process().run("stubborn", null, { limits: { cost_usd: 0.25 } }));
  expect(short).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" }, usage: { cost_usd: 0.2 } });
});

test("approving wall_clock, network_egress or storage_write does nothing: here each takes effect under each name", async () => {
  for (const [name, id] of [
    ["wall_clock", "wall_clock_ms"],
    ["network_egress", "network_egress_bytes"],
    ["storage_write", "storage_write_bytes"],
  ] as const) {
    const theatre = new Theatre([talker]);
    await theatre.until(theatre.process().run("talker", words("abc"), ASKING));
    const extensions = { [name]: 100, steps: 1 };
    await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN, extensions }));
    expect((await theatre.store.budget("r"))?.extended).toEqual({ [id]: 100, steps: 1 });
  }
});

test("an approval in one place never resumes the run: here whoever says yes sees it go on", async () => {
  const theatre = new Theatre([talker]);
  const { approval_id, checkpoint_id } = pausedOf(
    await theatre.until(theatre.process().run("talker", words("abc"), ASKING)),
  );
  expect(await theatre.until(theatre.process().approve(approval_id ?? "", { by: ANN }))).toMatchObject({
    status: "completed",
  });
  await expect(theatre.process().approve(checkpoint_id, { by: ANN })).rejects.toThrow("nothing was decided");
});

test("an agent can approve itself: here no run's credentials and no agent decide, extend, resume or cancel", async () => {
  const theatre = new Theatre([talker]);
  await theatre.until(theatre.process().run("talker", words("abc"), ASKING));
  const bursar = theatre.process();
  for (const by of [
    { name: "the run", role: "admin", run: "r" },
    { name: "an agent", role: "agent" },
    { name: "a viewer", role: "viewer" },
  ] as const) {
    await expect(bursar.approve("r/checkpoint", { by })).rejects.toThrow(/may decide/);
    await expect(bursar.deny("r/checkpoint", { by })).rejects.toThrow(/may decide/);
    await expect(bursar.extend("r", { steps: 5 }, { by })).rejects.toThrow(/may extend/);
    await expect(bursar.resume("r", by)).rejects.toThrow(/may resume/);
    await expect(bursar.resumeFromCheckpoint("r/checkpoint", { steps: 5 }, by)).rejects.toThrow(/may resume/);
    await expect(bursar.cancel("r", by)).rejects.toThrow(/may cancel/);
  }
  expect((await bursar.find("r")).status).toBe("paused");
  expect((await theatre.store.budget("r"))?.extended).toEqual({});
});

test("a denial leaves no event: here it does, and the run ends Cancelled", async () => {
  const theatre = new Theatre([talker]);
  await theatre.until(theatre.process().run("talker", words("abc"), ASKING));
  await theatre.until(theatre.process().deny("r/checkpoint", { by: ANN, reason: "enough" }));
  const events = await theatre.events("r");
  expect(events).toContain("Denied");
  expect(events.at(-1)).toBe("RunCompleted");
});

test("a session's 0 counts as unlimited or as the smallest, as it comes: here it is 0, and a run's own 0 stays 0", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("none", { steps: 0 });
  await bursar.openSession("some", { steps: 5 });
  await bursar.start("talker", words("a"), { id: "one", session: "none", limits: { steps: 3 } });
  await bursar.start("talker", words("a"), { id: "two", session: "some", limits: { steps: 0 } });
  await bursar.start("talker", words("a"), { id: "three", session: "some", limits: { steps: null } });
  const limits = await Promise.all(["one", "two", "three"].map(async (id) => (await theatre.store.budget(id))?.limits));
  expect(limits.map((each) => each?.steps)).toEqual([0, 0, 5]);
});

test("a session with a key missing clamps nothing at all: here each key clamps by itself", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.openSession("s", { cost_usd: 0.01 });
  await bursar.start("talker", words("a"), { id: "r", session: "s" });
  expect((await theatre.store.budget("r"))?.limits).toMatchObject({ cost_usd: 10_000_000, steps: 50 });
});

test("a plan may give itself more than governance allows: here no child has more than its parent", async () => {
  const parent = defineAgent("parent", async (ctx) =>
    ctx.spawn("talker", words("abcdef"), { limits: { steps: 1000 } }).catch(({ code }: RunError) => code),
  );
  const theatre = new Theatre([parent, talker]);
  const result = await theatre.until(theatre.process().run("parent", null, { id: "r", limits: { steps: 4 } }));
  expect(Number(result.usage.steps)).toBe(4);
  expect(theatre.said).toEqual(["a", "b", "c"]);
});

test("check and record are two things: here ten calls at once never pass on the same last step", async () => {
  const crowd = defineAgent("crowd", async (ctx) => {
    const calls = Array.from({ length: 10 }, (_, text) => ctx.tool("echo", { text: String(text) }));
    return (await Promise.allSettled(calls)).filter(({ status }) => status === "fulfilled").length;
  });
  const theatre = new Theatre([crowd]);
  const result = await theatre.until(theatre.process().run("crowd", null, { id: "r", limits: { steps: 3 } }));
  expect(result).toMatchObject({ status: "failed", result: 3, usage: { steps: 3 } });
  expect(theatre.said).toHaveLength(3);
});

test("the hash of an action leaves out its type: here a changed type is found", async () => {
  const theatre = new Theatre([talker]);
  await theatre.until(theatre.process().run("talker", words("a"), { id: "r" }));
  const lines = await listOf(theatre.store.chain("r"));
  const at = lines.findIndex((line) => line.includes('"RunStarted"'));
  const forged = lines.map((line, index) => (index === at ? line.replace('"RunStarted"', '"RunStopped"') : line));
  expect(await verifyChain(forged, { hash: sha256Hex })).toMatchObject({ ok: false });
  expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
});
