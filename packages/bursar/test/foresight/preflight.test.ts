import { describe, expect, it } from "vitest";
import type { Opinion } from "../../src/ports/foresight.js";
import type { Program } from "../../src/ports/program.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, listOf, Theatre } from "../runs/stage.js";
import { Past } from "./past.js";

const FOX = { name: "fox", role: "agent" } as const;

const speaker = defineAgent("speaker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.tool("echo", { text: `word ${turn}` });
  return times;
});

/** A program of which twelve runs are known, of which each took ten steps. */
async function practised(theatre: Theatre): Promise<void> {
  const taken = Array.from({ length: 12 }, () => ({ bytes: 12, used: { steps: 10 } }));
  await new Past(theatre.store).add(speaker, ...taken);
}

async function stage(more: Parameters<Theatre["process"]>[0] = {}) {
  const theatre = new Theatre([speaker]);
  await practised(theatre);
  return { theatre, bursar: theatre.process(more) };
}

const TIGHT = { id: "a", limits: { steps: 4 } } as const;

describe("before a run begins", () => {
  it("what it is expected to take is kept with it and told in its chain, in the one transaction that starts it", async () => {
    const { theatre, bursar } = await stage();
    await using _ = bursar;
    const run = await bursar.start("speaker", { times: 10 }, { id: "a" });
    expect(run).toMatchObject({ status: "queued", version: 1 });
    expect(run.estimate?.dimensions).toEqual({ steps: { median: 10, upper: 10, source: "history" } });
    const told = (await theatre.links("a")).find(({ action_type }) => action_type === "RunEstimated");
    expect(told?.data).toEqual({
      run_id: "a",
      preflight: "warn",
      fits: true,
      notes: [],
      dimensions: { steps: { median: 10, upper: 10, source: "history", limit: 50, missing: 0 } },
      sources: [
        {
          source: "history",
          samples: 12,
          about: "the last 12 runs",
          dimensions: { steps: { median: 10, upper: 10 } },
        },
      ],
    });
  });

  it("nothing is written when nobody knows anything, or foresight is switched off", async () => {
    const theatre = new Theatre([speaker]);
    await using unknowing = theatre.process();
    expect((await unknowing.start("speaker", { times: 1 }, { id: "new" })).estimate).toBeNull();
    expect(await theatre.events("new")).toEqual(["Allocation", "RunStarted", "ClockPaused"]);
    await practised(theatre);
    await using off = theatre.process({ foresight: false });
    expect((await off.start("speaker", { times: 1 }, { id: "off" })).estimate).toBeNull();
    expect(await theatre.events("off")).toEqual(["Allocation", "RunStarted", "ClockPaused"]);
    await expect(off.start("speaker", null, { preflight: "refuse" })).rejects.toThrow("foresight is switched off");
    await expect(off.estimate("speaker", null)).rejects.toThrow("foresight is switched off");
  });

  it("warns: it is told that it does not fit, and it goes on", async () => {
    const { theatre, bursar } = await stage();
    await using _ = bursar;
    const result = await theatre.until(bursar.run("speaker", { times: 2 }, TIGHT));
    expect(result).toMatchObject({ status: "completed", result: 2 });
    const told = (await theatre.links("a")).find(({ action_type }) => action_type === "RunEstimated");
    expect(told?.data).toMatchObject({ fits: false, dimensions: { steps: { limit: 4, missing: 6 } } });
  });

  it("suggests as much as it takes to end, with room for the last call before it is charged", async () => {
    const dear = defineTool({
      name: "dear",
      description: "Holds more than it takes.",
      input: { type: "object" },
      quote: { cost_usd: 0.05 },
      meter: () => ({ cost_usd: 0.02 }),
      run: () => "something",
    });
    const shopper = defineAgent("shopper", async (ctx) => {
      for (let turn = 0; turn < 6; turn++) await ctx.tool("dear");
      return "bought";
    });
    const theatre = new Theatre([shopper], [dear]);
    await using bursar = theatre.process();
    for (let run = 0; run < 12; run++) await theatre.until(bursar.run("shopper", null, { limits: { cost_usd: 1 } }));
    const tight = { id: "a", limits: { cost_usd: 0.04 }, preflight: "ask" } as const;
    await theatre.until(bursar.run("shopper", null, tight));
    const [request] = await listOf(bursar.approvals());
    // 0.12 that it takes, and 0.03 more for a call that holds 0.05 and takes 0.02.
    expect(request?.suggested_extension.cost_usd).toBeGreaterThanOrEqual(0.11);
    expect(await theatre.until(bursar.approve(request?.id ?? "", { by: ANN }))).toMatchObject({ status: "completed" });
  });

  it("refuses: the run is written as failed, with nothing done and nothing held", async () => {
    const { theatre, bursar } = await stage({ foresight: { preflight: "refuse" } });
    await using _ = bursar;
    await bursar.openSession("s", { steps: 100 });
    const options = { ...TIGHT, session: "s", wrap_up: { steps: 1 } };
    const result = await theatre.until(bursar.run("speaker", { times: 2 }, options));
    expect(result).toMatchObject({ status: "failed", failure: { code: "estimated_over", dimension: null } });
    expect(result).toMatchObject({
      failure: { data: { over: [{ dimension: "steps", upper: 10, limit: 3, missing: 7 }] } },
    });
    expect(theatre.said).toEqual([]);
    expect(await theatre.events("a")).toEqual([
      "Allocation",
      "Allocation",
      "RunStarted",
      "RunEstimated",
      "RunEnded",
      "RunCompleted",
      "RunCompleted",
    ]);
    expect(await theatre.store.budget("a")).toMatchObject({ ended: true });
    expect(await theatre.store.budget("session:s")).toMatchObject({ open: 0, reserved: {} });
    expect(await theatre.store.document("history", "a")).toBeNull();
    expect((await bursar.start("speaker", { times: 2 }, options)).status).toBe("failed");
  });

  it("is not refused for a bound that is only wide because few runs are known", async () => {
    const theatre = new Theatre([speaker]);
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const limits = { steps: 4 };
    const run = (times: number, id: string) => theatre.until(bursar.run("speaker", { times }, { id, limits }));
    for (let turn = 0; turn < 9; turn++) {
      expect(await run(turn % 2 === 0 ? 3 : 2, `r${turn}`)).toMatchObject({ status: "completed" });
    }
    const told = (await theatre.links("r1")).find(({ action_type }) => action_type === "RunEstimated");
    expect(told?.data).toMatchObject({ preflight: "warn", fits: false });
    expect(told?.data).toMatchObject({ notes: [expect.stringContaining("too few runs are known")] });
    // Whoever wants to be asked is asked.
    const asked = await theatre.until(bursar.run("speaker", { times: 2 }, { limits: { steps: 3 }, preflight: "ask" }));
    expect(asked.status).toBe("paused");
  });

  it.each([
    ["took more than it may take now", { used: { steps: 5 } }],
    ["was stopped by the very limit", { used: { steps: 4 }, cut: true }],
  ])("is refused when the only run that is known %s", async (_, taken) => {
    const theatre = new Theatre([speaker]);
    await new Past(theatre.store).add(speaker, { bytes: 11, ...taken });
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const result = await theatre.until(bursar.run("speaker", { times: 2 }, TIGHT));
    expect(result).toMatchObject({ failure: { code: "estimated_over" } });
  });

  it.each([
    ["had a larger input", { bytes: 500, used: { steps: 5 } }],
    ["fell over within the limit", { bytes: 11, used: { steps: 3 }, cut: true }],
  ])("is not refused when the only run that is known %s", async (_, taken) => {
    const theatre = new Theatre([speaker]);
    await new Past(theatre.store).add(speaker, taken);
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const result = await theatre.until(bursar.run("speaker", { times: 2 }, TIGHT));
    expect(result).toMatchObject({ status: "completed" });
  });

  it("is refused by what the program says of itself, also when few runs are known", async () => {
    const frank = defineAgent("frank", (ctx) => ctx.tool("echo", { text: "x" }), { expects: () => ({ steps: 9 }) });
    const theatre = new Theatre([frank]);
    await new Past(theatre.store).add(frank, { bytes: 4, used: { steps: 3 } });
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const result = await theatre.until(bursar.run("frank", null, TIGHT));
    expect(result).toMatchObject({ failure: { code: "estimated_over" } });
  });

  it("counts what a session has left", async () => {
    const { theatre, bursar } = await stage({ foresight: { preflight: "refuse" } });
    await using _ = bursar;
    await bursar.openSession("s", { steps: 15 });
    expect(await theatre.until(bursar.run("speaker", { times: 8 }, { session: "s" }))).toMatchObject({
      status: "completed",
    });
    const next = await theatre.until(bursar.run("speaker", { times: 2 }, { session: "s" }));
    expect(next).toMatchObject({ failure: { code: "estimated_over", data: { over: [{ limit: 7, missing: 3 }] } } });
  });

  it("tells of a session that is exhausted, or not open, without asking anybody", async () => {
    const asked: unknown[] = [];
    const predictor = {
      predict: async (question: unknown) => {
        asked.push(question);
        return null;
      },
    };
    const theatre = new Theatre([speaker]);
    await using bursar = theatre.process({ foresight: { predictor } });
    await expect(bursar.start("speaker", { times: 1 }, { session: "none" })).rejects.toThrow("none is not open");
    await expect(bursar.estimate("speaker", { times: 1 }, { session: "none" })).rejects.toThrow("none is not open");
    await bursar.openSession("s", { steps: 1 });
    await theatre.until(bursar.run("speaker", { times: 1 }, { session: "s" }));
    asked.length = 0;
    await expect(bursar.start("speaker", { times: 1 }, { session: "s" })).rejects.toMatchObject({ code: "exhausted" });
    expect(asked).toEqual([]);
    const looked = await bursar.estimate("speaker", { times: 1 }, { session: "s" });
    expect(looked).toMatchObject({ fits: false, notes: [expect.stringContaining("session s")] });
  });

  it("counts the time until a deadline", async () => {
    const theatre = new Theatre([speaker]);
    const taken = Array.from({ length: 12 }, () => ({ bytes: 12, used: { wall_clock_ms: 20_000 } }));
    await new Past(theatre.store).add(speaker, ...taken);
    await using bursar = theatre.process();
    const deadline = new Date(theatre.store.clock.now().instant + 5000);
    expect((await bursar.estimate("speaker", { times: 1 })).fits).toBe(true);
    const soon = await bursar.estimate("speaker", { times: 1 }, { deadline });
    expect(soon).toMatchObject({ fits: false, dimensions: [{ limit: 5000, missing: 15_000 }] });
  });

  it("lets a limit pass that only warns", async () => {
    const { theatre, bursar } = await stage({ foresight: { preflight: "refuse" } });
    await using _ = bursar;
    const policies = { steps: "soft_warn" } as const;
    expect(await theatre.until(bursar.run("speaker", { times: 6 }, { ...TIGHT, policies }))).toMatchObject({
      status: "completed",
    });
    await bursar.openSession("s", { steps: 8 });
    const below = await bursar.estimate("speaker", { times: 6 }, { ...TIGHT, id: "b", policies, session: "s" });
    expect(below.fits).toBe(false);
  });

  it("counts what hints add to the limits", async () => {
    const { bursar } = await stage();
    await using _ = bursar;
    const hints = { budget_extend: [{ dimension: "steps", additional: 6 }] };
    expect((await bursar.estimate("speaker", { times: 1 }, TIGHT)).fits).toBe(false);
    expect((await bursar.estimate("speaker", { times: 1 }, { ...TIGHT, hints })).fits).toBe(true);
  });

  it("may be made stricter by anybody, and less strict by operators alone", async () => {
    const { theatre, bursar } = await stage({ foresight: { preflight: "ask" } });
    await using _ = bursar;
    const start = (preflight: "warn" | "ask" | "refuse", id: string, by: typeof FOX | typeof ANN) =>
      bursar.start("speaker", { times: 1 }, { ...TIGHT, id, preflight, by });
    expect((await start("refuse", "r", FOX)).status).toBe("failed");
    expect((await start("ask", "k", FOX)).status).toBe("paused");
    await expect(start("warn", "w", FOX)).rejects.toMatchObject({ code: "forbidden" });
    expect(await theatre.store.document("run", "w")).toBeNull();
    expect((await start("warn", "w", ANN)).status).toBe("queued");
    await expect(bursar.start("speaker", null, { preflight: "later" as "ask" })).rejects.toThrow(
      "allowed: warn, ask, refuse",
    );
  });

  it("an estimate that fails is a note, and the run goes on", async () => {
    const broken: Program = { ...speaker, expects: () => Promise.reject(new Error("cannot be read")) };
    const theatre = new Theatre([broken]);
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    expect((await theatre.until(bursar.run("speaker", { times: 1 }, { id: "a" }))).status).toBe("completed");
    const told = (await theatre.links("a")).find(({ action_type }) => action_type === "RunEstimated");
    expect(told?.data).toMatchObject({ fits: true, notes: [expect.stringContaining("cannot be read")] });
  });

  it("when the past cannot be read, nothing begins that is to be refused or asked about, and what only warns does", async () => {
    const theatre = new Theatre([speaker]);
    const store = new Proxy(theatre.store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "latest") throw new Error("the disk is gone");
          return Reflect.apply(value, target, args);
        };
      },
    });
    await using bursar = theatre.process({ store });
    await expect(bursar.start("speaker", null, { id: "r", preflight: "refuse" })).rejects.toThrow("the disk is gone");
    await expect(bursar.start("speaker", null, { id: "k", preflight: "ask" })).rejects.toThrow("the disk is gone");
    expect(await listOf(theatre.store.documents("run"))).toEqual([]);
    expect((await bursar.start("speaker", null, { id: "w" })).status).toBe("queued");
    const told = (await theatre.links("w")).find(({ action_type }) => action_type === "RunEstimated");
    expect(told?.data).toMatchObject({ notes: [expect.stringContaining("the disk is gone")] });
  });

  it("tells a program what the tools and the model of the process quote", async () => {
    const heard: unknown[] = [];
    const dear = defineTool({
      name: "dear",
      description: "Costs.",
      input: {},
      quote: { cost_usd: 2 },
      run: () => null,
    });
    const asking: Program = {
      ...speaker,
      expects: async (_, known): Promise<Opinion> => {
        heard.push(known.tool("dear", {}), await known.model({ prompt: "hi" }));
        return { dimensions: { cost_usd: { median: 1_000_000_000, upper: 2_000_000_000 } }, about: "one tool" };
      },
    };
    const theatre = new Theatre([asking], [dear]);
    await using bursar = theatre.process();
    const looked = await bursar.estimate("speaker", { times: 1 });
    expect(heard).toEqual([{ cost_usd: 2 }, expect.objectContaining({ cost_usd: 0.01 })]);
    expect(looked).toMatchObject({ program: "speaker", fits: false, notes: [] });
    expect(looked.dimensions).toEqual([
      {
        dimension: "cost_usd",
        unit: "USD",
        median: 1,
        upper: 2,
        source: "program",
        limit: 0.5,
        policy: "hard_stop",
        missing: 1.5,
      },
    ]);
    expect(await listOf(theatre.store.documents("run"))).toEqual([]);
  });
});
