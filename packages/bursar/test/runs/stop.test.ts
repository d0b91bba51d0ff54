import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { RunError } from "../../src/runs/error.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, listOf, settle, Theatre } from "./stage.js";

test("a program is told by an error it can catch, and may put its things in order", async () => {
  const order: string[] = [];
  const tidy = defineAgent("tidy", async (ctx) => {
    try {
      for (let turn = 0; ; turn++) await ctx.tool("echo", { text: String(turn) });
    } catch (error) {
      expect(error).toBeInstanceOf(RunError);
      const { code, data, message } = error as RunError;
      order.push(code, String(data.dimension), message);
      throw error;
    } finally {
      order.push("tidied up");
    }
  });
  const theatre = new Theatre([tidy]);
  const result = await theatre.until(theatre.process().run("tidy", null, { limits: { steps: 2 } }));
  expect(order[0]).toBe("exhausted");
  expect(order[1]).toBe("steps");
  // It says which budget, how much was asked for, and what the limit is.
  expect(order[2]).toMatch(/steps of budget .* is exhausted: asked 1 call, used 2 calls, limit 2 calls/);
  expect(order[3]).toBe("tidied up");
  expect(result).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "steps" } });
});

test("the run ends Failed whatever its program does next, and what it gives back is kept", async () => {
  const calm = defineAgent("calm", async (ctx) => {
    const heard: string[] = [];
    try {
      for (let turn = 0; ; turn++) heard.push(await ctx.tool<string>("echo", { text: String(turn) }));
    } catch {
      return { partial: heard };
    }
  });
  const theatre = new Theatre([calm]);
  const result = await theatre.until(theatre.process().run("calm", null, { id: "r", limits: { steps: 3 } }));
  expect(result).toMatchObject({
    status: "failed",
    result: { partial: ["0", "1", "2"] },
    failure: { code: "exhausted", dimension: "steps" },
  });
  expect((await theatre.events("r")).at(-1)).toBe("RunCompleted");
});

test("a program that throws something else meanwhile still ended because of its limit", async () => {
  const clumsy = defineAgent("clumsy", async (ctx) => {
    try {
      for (;;) await ctx.tool("echo", { text: "a" });
    } catch {
      throw new TypeError("undefined is not a function");
    }
  });
  const theatre = new Theatre([clumsy]);
  const result = await theatre.until(theatre.process().run("clumsy", null, { limits: { steps: 1 } }));
  expect(result).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "steps" } });
});

test("a program that ignores it and goes on asking is refused, and ended after so many times", async () => {
  let asked = 0;
  const deaf = defineAgent("deaf", async (ctx) => {
    for (;;) {
      asked++;
      await ctx.tool("echo", { text: "again" }).catch(() => {});
    }
  });
  const theatre = new Theatre([deaf]);
  const work = theatre.process().run("deaf", null, { id: "r", limits: { steps: 1 } });
  await settle(3000);
  // Without any time passing.
  expect((await theatre.process().find("r")).status).toBe("failed");
  await theatre.until(work);
  expect(theatre.said).toEqual(["again"]);
  expect(asked).toBeLessThan(200);
});

test("a program that ignores it and asks for what costs nothing is ended as well", async () => {
  const curious = defineAgent("curious", async (ctx) => {
    for (;;) {
      await ctx.tool("echo", { text: "again" }).catch(() => {});
      await ctx.now();
      await ctx.budget();
    }
  });
  const theatre = new Theatre([curious]);
  const result = await theatre.until(theatre.process().run("curious", null, { limits: { steps: 1 } }), 0);
  expect(result.status).toBe("failed");
});

test("a program that waits for something else for ever is ended after a while", async () => {
  const gone = defineAgent("gone", async (ctx) => {
    for (;;) await ctx.tool("echo", { text: "a" }).catch(() => new Promise(() => {}));
  });
  const theatre = new Theatre([gone]);
  const limits = { steps: 1, wall_clock_ms: null };
  const result = await theatre.until(theatre.process().run("gone", null, { limits }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
});

test("effects that were under way when a limit was hit come to their end, and are charged", async () => {
  const gate = new Latch();
  const slow = defineTool({
    name: "slow",
    description: "Takes its time.",
    input: {},
    quote: { cost_usd: 0.03 },
    run: () => gate.opened.then(() => "slow"),
  });
  const both = defineAgent("both", async (ctx) => {
    const late = ctx.tool("slow");
    const refused = ctx.tool("echo", { text: "b" }).catch(({ code }: RunError) => code);
    return [await refused, await late];
  });
  const theatre = new Theatre([both], [slow]);
  const work = theatre.process().run("both", null, { id: "r", limits: { cost_usd: 0.03, steps: 1 } });
  await settle();
  gate.open();
  const result = await theatre.until(work);
  // One step is held by the first, so the second waits for it, and then there is none left.
  expect(result).toMatchObject({
    status: "failed",
    result: ["exhausted", "slow"],
    usage: { cost_usd: 0.03, steps: 1 },
  });
});

test("whoever waits for a human when a limit is hit for good is told that it waits in vain", async () => {
  const gate = new Latch();
  const slow = defineTool({ name: "slow", description: "Waits.", input: {}, run: () => gate.opened });
  const ask = defineTool({ name: "ask", description: "Needs a yes.", input: {}, approval: true, run: () => "done" });
  const mixed = defineAgent("mixed", async (ctx) => {
    const waiting = ctx.tool("ask").catch(({ code }: RunError) => code);
    await ctx.tool("slow");
    const stopped = await ctx.tool("echo", { text: "too much" }).catch(({ code }: RunError) => code);
    return [await waiting, stopped];
  });
  const theatre = new Theatre([mixed], [slow, ask]);
  const work = theatre.process().run("mixed", null, { id: "r", limits: { steps: 1 } });
  await settle();
  gate.open();
  const result = await theatre.until(work);
  expect(result).toMatchObject({ status: "failed", result: ["exhausted", "exhausted"] });
  expect(await listOf(theatre.process().approvals())).toEqual([]);
});

test("what would wait for a human after a limit was hit for good is refused at once, so that nothing is lost", async () => {
  const asking = defineAgent("asking", async (ctx) => {
    const refused = (error: RunError) => error.code;
    await ctx.model({ prompt: "first" });
    const stopped = await ctx.tool("use").catch(refused);
    const tokens = await ctx.model({ prompt: "second" }).catch(refused);
    return [stopped, tokens, await ctx.tool("ask").catch(refused)];
  });
  const use = defineTool({ name: "use", description: "Uses it.", input: {}, quote: { fuel: 9 }, run: () => "used" });
  const ask = defineTool({ name: "ask", description: "Needs a yes.", input: {}, approval: true, run: () => "done" });
  const theatre = new Theatre([asking], [use, ask]);
  const limits = { fuel: 1, llm_tokens: 100 };
  const result = await theatre.until(theatre.process().run("asking", null, { id: "r", limits }), 0);
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "fuel" } });
  expect(result).toMatchObject({ result: ["exhausted", expect.any(String), expect.any(String)] });
});

test("a call that waits for a hold which is just given back is made before the run stands still", async () => {
  const gate = new Latch();
  const options = { description: "Costs less than it may.", input: {}, quote: { cost_usd: 0.01 } };
  const meter = () => ({ cost_usd: 0.005 });
  const first = defineTool({ ...options, name: "first", meter, run: () => gate.opened });
  const second = defineTool({ ...options, name: "second", meter, run: () => theatre.said.push("second") });
  const ask = defineTool({ name: "ask", description: "Needs a yes.", input: {}, approval: true, run: () => "done" });
  const branches = defineAgent("branches", async (ctx) => {
    const working = async () => {
      await ctx.tool("first");
      await ctx.tool("second");
    };
    await Promise.all([ctx.tool("ask"), working()]);
    return "both";
  });
  const theatre = new Theatre([branches], [first, second, ask]);
  const work = theatre.process().run("branches", null, { id: "r", limits: { cost_usd: 0.015 } });
  await settle();
  gate.open();
  expect((await theatre.until(work)).status).toBe("paused");
  // Only one branch had to wait for somebody.
  expect(theatre.said).toEqual(["second"]);
});

test("a limit that cannot take the call says so, and nothing of it is made", async () => {
  const dear = defineTool({
    name: "dear",
    description: "Costs much.",
    input: {},
    quote: { cost_usd: 0.4 },
    run: () => theatre.said.push("dear"),
  });
  const buyer = defineAgent("buyer", async (ctx) => {
    await ctx.tool("dear");
    return ctx.tool("dear");
  });
  const theatre = new Theatre([buyer], [dear]);
  const result = await theatre.until(theatre.process().run("buyer", null, { limits: { cost_usd: 0.5 } }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" }, usage: { cost_usd: 0.4 } });
  expect(theatre.said).toEqual(["dear"]);
});

test("cancel ends a run that a limit has stopped and that still puts its things in order", async () => {
  const slow = defineAgent("slow", async (ctx) => {
    for (;;) await ctx.tool("echo", { text: "a" }).catch(() => new Promise(() => {}));
  });
  const theatre = new Theatre([slow]);
  const bursar = theatre.process();
  const work = bursar.run("slow", null, { id: "r", limits: { steps: 1 } });
  await settle();
  await theatre.until(bursar.cancel("r", ANN));
  expect(["cancelled", "failed"]).toContain((await theatre.until(work)).status);
});

test("a model whose quote never comes does not outlive the run's time", async () => {
  const model = { quote: () => new Promise<never>(() => {}), call: () => Promise.reject(new Error("never called")) };
  const asker = defineAgent("asker", async (ctx) => ctx.model({ prompt: "?" }));
  const theatre = new Theatre([asker]);
  const work = theatre.process({ model }).run("asker", null, { id: "r", limits: { wall_clock_ms: 5000 } });
  expect(await theatre.until(work)).toMatchObject({ status: "failed", failure: { dimension: "wall_clock_ms" } });
});
