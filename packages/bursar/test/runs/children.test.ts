import { expect, test } from "vitest";
import { defineAgent, type SpawnBudget } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, listOf, pausedOf, settle, Theatre } from "./stage.js";

/** Says so many words, and what it heard. */
const speaker = defineAgent("speaker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

/** Thinks so often; each time costs 0.008 USD, and at most 0.01. */
const thinker = defineAgent("thinker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.model({ prompt: String(turn) });
  return times;
});

interface Order {
  readonly program: string;
  readonly input: unknown;
  readonly budget?: SpawnBudget;
}

/** Starts what it is told, all at once, and gives back what became of each. */
const chief = defineAgent("chief", async (ctx, { orders }: { orders: Order[] }) => {
  const outcomes = await Promise.allSettled(
    orders.map(({ program, input, budget }) => ctx.spawn(program, input, budget)),
  );
  return outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return outcome.value;
    const { code, data } = outcome.reason as RunError;
    return { code, dimension: data.dimension ?? null };
  });
});

const order = (words: string, budget?: SpawnBudget): Order => ({
  program: "speaker",
  input: { words: words.split("") },
  ...(budget !== undefined && { budget }),
});

test("a child that shares its parent's budget has none of its own, and uses its parent's", async () => {
  const theatre = new Theatre([chief, speaker]);
  const result = await theatre.until(theatre.process().run("chief", { orders: [order("abc", "share")] }, { id: "r" }));
  expect(result).toMatchObject({ status: "completed", result: [3], usage: { steps: 4, subcalls: 1 } });
  expect(await theatre.store.budget("r.0")).toBe(null);
  expect((await theatre.process().find("r.0")).budget).toBe("r");
});

test("a fraction is held for the child, and what it does not use is free again when it ends", async () => {
  const theatre = new Theatre([chief, thinker]);
  const orders = [{ program: "thinker", input: { times: 1 }, budget: { fraction: 0.5 } }];
  const result = await theatre.until(
    theatre.process().run("chief", { orders }, { id: "r", limits: { cost_usd: 0.1, steps: 11 } }),
  );
  expect(result).toMatchObject({ status: "completed", usage: { cost_usd: 0.008, steps: 2 } });
  const child = await theatre.store.budget("r.0");
  expect(child).toMatchObject({ ended: true, limits: { cost_usd: 50_000_000, steps: 5 } });
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, reserved: { cost_usd: 0, steps: 0 } });
});

test("limits and policies beside a fraction hold, and its part is never more than they say", async () => {
  const theatre = new Theatre([chief, speaker]);
  const budget: SpawnBudget = {
    fraction: 0.5,
    limits: { steps: 2, cost_usd: 7 },
    policies: { llm_tokens: "hard_stop" },
  };
  const result = await theatre.until(
    theatre
      .process()
      .run("chief", { orders: [order("abcdef", budget)] }, { id: "r", limits: { steps: 20, cost_usd: 0.5 } }),
  );
  expect(result).toMatchObject({ status: "completed", result: [{ code: "child_exhausted", dimension: "steps" }] });
  expect(theatre.said).toEqual(["a", "b"]);
  const child = await theatre.store.budget("r.0");
  expect(child).toMatchObject({ limits: { steps: 2, cost_usd: 250_000_000 }, policies: { llm_tokens: "hard_stop" } });
});

test("a fraction that only warns does not let a child past what is held for it", async () => {
  const theatre = new Theatre([chief, speaker]);
  const budget: SpawnBudget = { fraction: 0.5, limits: { steps: 1 }, policies: { steps: "soft_warn" } };
  const orders = [order("abcdef", budget)];
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r", limits: { steps: 4 } }));
  expect(theatre.said).toEqual(["a"]);
  expect(result.usage.steps).toBe(2);
});

test.each([
  { fraction: 0.5, limit: { steps: 1 } },
  { limits: { steps: 1 }, policy: {} },
  { fraction: "half", limits: {} },
])("a budget such as %j, of which a part would be passed over, is refused", async (budget) => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("a", budget as never)];
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r" }));
  expect(result).toMatchObject({ status: "completed", result: [{ code: "invalid_input" }] });
  expect(theatre.said).toEqual([]);
});

test("explicit limits are cut to what the parent has left", async () => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("abcdef", { limits: { steps: 3, cost_usd: 7 } })];
  const result = await theatre.until(
    theatre.process().run("chief", { orders }, { id: "r", limits: { steps: 10, cost_usd: 0.25 } }),
  );
  expect(result).toMatchObject({
    status: "completed",
    result: [{ code: "child_exhausted", dimension: "steps" }],
    usage: { steps: 4 },
  });
  expect((await theatre.store.budget("r.0"))?.limits).toMatchObject({ steps: 3, cost_usd: 250_000_000 });
  expect(await theatre.process().find("r.0")).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
});

test("a child cannot loosen what its parent may: its policy of only warning does not let it past the parent's limit", async () => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("abcdef", { limits: { steps: 2 }, policies: { steps: "soft_warn" } })];
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r", limits: { steps: 4 } }));
  expect(theatre.said).toEqual(["a", "b", "c"]);
  expect(result.usage.steps).toBe(4);
});

test("a child that exhausts a limit of its parent's ends the parent too, as that limit's policy says", async () => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("abcdef", { limits: { cost_usd: 0.1 } })];
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r", limits: { steps: 4 } }));
  expect(await theatre.process().find("r.0")).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
});

test("a child that runs into its own limit is a typed outcome that its parent survives", async () => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("abc", { limits: { steps: 1 } }), order("xy", { limits: { steps: 2 } })];
  const result = await theatre.until(theatre.process().run("chief", { orders }));
  expect(result).toMatchObject({ status: "completed", result: [{ code: "child_exhausted", dimension: "steps" }, 2] });
});

test("a child that fails for a reason of its own is told apart from one that has run out", async () => {
  const broken = defineAgent("broken", async () => {
    throw new Error("no such luck");
  });
  const lost = defineAgent("lost", async (ctx) =>
    ctx.spawn("broken").catch(({ code, message, data }: RunError) => ({ code, message, status: data.status ?? null })),
  );
  const theatre = new Theatre([lost, broken]);
  expect(await theatre.until(theatre.process().run("lost", null, { id: "r" }))).toMatchObject({
    status: "completed",
    result: { code: "child_failed", message: "run r.0 failed: no such luck", status: "failed" },
  });
});

test("a child that exhausts the budget it shares halts the whole evaluation, whatever its parent does next", async () => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("abcdef", "share")];
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r", limits: { steps: 3 } }));
  expect(theatre.said).toEqual(["a", "b"]);
  expect(await theatre.process().find("r.0")).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
  // The parent caught it and returned as if nothing had happened.
  expect(result).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "steps" } });
});

test("subcalls are counted before a child is started", async () => {
  const theatre = new Theatre([chief, speaker]);
  const orders = [order("a"), order("b"), order("c")];
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r", limits: { subcalls: 2 } }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "subcalls" }, usage: { subcalls: 2 } });
  expect(await theatre.store.document("run", "r.2")).toBe(null);
});

/** Goes down so many levels, and says at which one it was refused. */
const digger = defineAgent("digger", async (ctx, { levels }: { levels: number }): Promise<number> => {
  if (levels === 0) return 0;
  return 1 + Number(await ctx.spawn("digger", { levels: levels - 1 }));
});

for (const depth of [0, 1, 2, 3]) {
  test(`a depth of ${depth} allows exactly ${depth} levels below the root`, async () => {
    const theatre = new Theatre([digger]);
    const fits = await theatre.until(
      theatre.process().run("digger", { levels: depth }, { id: "fits", limits: { depth } }),
    );
    expect(fits).toMatchObject({ status: "completed", result: depth });
    const deeper = await theatre.until(
      theatre.process().run("digger", { levels: depth + 1 }, { id: "deeper", limits: { depth } }),
    );
    expect(deeper.status).toBe("failed");
    const runs = (await listOf(theatre.store.documents("run"))).filter(({ id }) => id.startsWith("deeper"));
    expect(runs).toHaveLength(depth + 1);
    const deepest = await theatre.process().find(`deeper${".0".repeat(depth)}`);
    expect(deepest).toMatchObject({ depth, status: "failed", failure: { dimension: "depth" } });
  });
}

test("five children at half of what is left never add up to more than their parent", async () => {
  const theatre = new Theatre([chief, thinker]);
  const orders = Array.from({ length: 5 }, () => ({ program: "thinker", input: { times: 100 } }));
  const limits = { cost_usd: 0.5, steps: null, llm_tokens: null, wall_clock_ms: null };
  const result = await theatre.until(theatre.process().run("chief", { orders }, { id: "r", limits }));
  const granted = await Promise.all(orders.map(async (_, number) => theatre.store.budget(`r.${number}`)));
  const sum = granted.reduce((total, budget) => total + (budget?.limits.cost_usd ?? 0), 0);
  expect(granted.every((budget) => budget !== null)).toBe(true);
  expect(sum).toBeLessThanOrEqual(500_000_000);
  expect(result.usage.cost_usd).toBeLessThanOrEqual(0.5);
  expect(theatre.prompts.length * 8_000_000).toBe((await theatre.store.budget("r"))?.used.cost_usd);
});

test("three deep, a pause at the bottom stops all, and after a yes nothing is redone", async () => {
  const top = defineAgent("top", async (ctx) => {
    await ctx.tool("echo", { text: "top" });
    return ["top", ...(await ctx.spawn<string[]>("middle", null, "share"))];
  });
  const middle = defineAgent("middle", async (ctx) => {
    await ctx.tool("echo", { text: "middle" });
    const budget = { limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
    return ["middle", await ctx.spawn("speaker", { words: ["a", "b"] }, budget)];
  });
  const theatre = new Theatre([top, middle, speaker]);
  const paused = pausedOf(await theatre.until(theatre.process().run("top", null, { id: "r" })));
  expect(paused.children).toEqual(["r.1"]);
  expect((await theatre.process().find("r.1")).pause?.children).toEqual(["r.1.1"]);
  expect(theatre.said).toEqual(["top", "middle", "a"]);
  const [request] = await listOf(theatre.process().approvals());
  expect(request).toMatchObject({ run: "r.1.1", budget: "r.1.1", exhausted_dimension: "steps" });
  await theatre.until(theatre.process().approve(request?.id ?? "", { by: ANN }));
  const done = await theatre.until(theatre.process().resume("r"));
  expect(done).toMatchObject({ status: "completed", result: ["top", "middle", 2] });
  expect(theatre.said).toEqual(["top", "middle", "a", "b"]);
});

test("one branch that waits for a human leaves its siblings running, and nothing is redone after a yes", async () => {
  const gate = new Latch();
  const slow = defineTool({
    name: "slow",
    description: "Takes its time.",
    input: { type: "object" },
    run: () => gate.opened.then(() => theatre.said.push("slow")),
  });
  const patient = defineAgent("patient", async (ctx) => {
    await ctx.tool("slow");
    await ctx.tool("echo", { text: "after" });
    return "patient";
  });
  const theatre = new Theatre([chief, speaker, patient], [slow]);
  const orders = [
    order("ab", { limits: { steps: 1 }, policies: { steps: "approval_required" } }),
    { program: "patient", input: null },
  ];
  const work = theatre.process().run("chief", { orders }, { id: "r" });
  await settle();
  expect((await theatre.process().find("r.0")).status).toBe("paused");
  expect((await theatre.process().find("r")).status).toBe("running");
  gate.open();
  const paused = pausedOf(await theatre.until(work));
  // The sibling has come to its end although its brother stood still.
  expect((await theatre.process().find("r.1")).status).toBe("completed");
  expect(paused.children).toEqual(["r.0"]);
  const [request] = await listOf(theatre.process().approvals());
  await theatre.until(theatre.process().approve(request?.id ?? "", { by: ANN }));
  const done = await theatre.until(theatre.process().resume("r"));
  expect(done).toMatchObject({ status: "completed", result: [2, "patient"] });
  expect(theatre.said).toEqual(["a", "slow", "after", "b"]);
});

test("a yes that comes while the siblings are still at work lets the branch go on at once", async () => {
  const gate = new Latch();
  const slow = defineTool({ name: "slow", description: "Waits.", input: {}, run: () => gate.opened });
  const patient = defineAgent("patient", async (ctx) => ctx.tool("slow"));
  const theatre = new Theatre([chief, speaker, patient], [slow]);
  const orders = [
    order("ab", { limits: { steps: 1 }, policies: { steps: "approval_required" } }),
    { program: "patient", input: null },
  ];
  const bursar = theatre.process();
  const work = bursar.run("chief", { orders }, { id: "r" });
  await settle();
  const [request] = await listOf(bursar.approvals());
  expect(await theatre.until(bursar.approve(request?.id ?? "", { by: ANN }))).toMatchObject({ status: "completed" });
  gate.open();
  expect(await theatre.until(work)).toMatchObject({ status: "completed", result: [2, null] });
  expect((await theatre.events("r")).includes("RunPaused")).toBe(false);
  expect(theatre.said).toEqual(["a", "b"]);
});
