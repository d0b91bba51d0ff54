import { describe, expect, it } from "vitest";
import { defineAgent, type SpawnBudget } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { ANN, listOf, mortal, pausedOf, settle, Theatre } from "../runs/stage.js";
import { keptWebhook } from "./hook.js";
import { Past } from "./past.js";

const HOUR_MS = 3_600_000;

const speaker = defineAgent("speaker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.tool("echo", { text: `word ${turn}` });
  return times;
});

interface Order {
  readonly times: number;
  readonly budget: SpawnBudget;
}

/** Lets somebody speak, and gives back what became of it. */
const chief = defineAgent("chief", async (ctx, { times, budget }: Order) => {
  try {
    return await ctx.spawn("speaker", { times }, budget);
  } catch (error) {
    const { code, message, data } = error as RunError;
    return { code, message, data };
  }
});

/** The same, and does not care what becomes of it. */
const hasty = defineAgent("hasty", (ctx, { times, budget }: Order) => ctx.spawn("speaker", { times }, budget));

const FOUR = { limits: { steps: 4 } } as const;

async function practised(): Promise<Theatre> {
  const theatre = new Theatre([chief, hasty, speaker]);
  const taken = Array.from({ length: 12 }, () => ({ bytes: 12, used: { steps: 10 } }));
  await new Past(theatre.store).add(speaker, ...taken);
  return theatre;
}

async function estimatesIn(theatre: Theatre, chain: string) {
  return (await theatre.links(chain)).filter(({ action_type }) => action_type === "RunEstimated");
}

describe("a child that is expected not to fit", () => {
  it("begins under warn, and its own chain says what was expected", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const result = await theatre.until(bursar.run("chief", { times: 3, budget: FOUR }, { id: "r" }));
    expect(result).toMatchObject({ status: "completed", result: 3 });
    expect((await theatre.events("r.0")).slice(0, 4)).toEqual([
      "Allocation",
      "RunStarted",
      "RunEstimated",
      "ClockPaused",
    ]);
    expect((await estimatesIn(theatre, "r.0")).map(({ data }) => data)).toMatchObject([
      {
        run_id: "r.0",
        parent: "r",
        program: "speaker",
        preflight: "warn",
        fits: false,
        dimensions: { steps: { median: 10, upper: 10, limit: 4, missing: 6, source: "history" } },
      },
    ]);
    expect((await bursar.find("r.0")).estimate?.dimensions).toEqual({
      steps: { median: 10, upper: 10, source: "history" },
    });
    expect((await theatre.store.document("history", "r.0"))?.body).toMatchObject({
      estimate: { steps: { median: 10, upper: 10 } },
    });
  });

  it("is refused, and its parent is told why and can go on", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const result = await theatre.until(bursar.run("chief", { times: 3, budget: FOUR }, { id: "r" }));
    expect(result).toMatchObject({
      status: "completed",
      result: {
        code: "estimated_over",
        message: expect.stringMatching(/^run r\.0 failed: .*steps may take 10 and has 4; .*budget/),
        data: { run_id: "r.0", over: [{ dimension: "steps", upper: 10, limit: 4, missing: 6 }] },
      },
    });
    expect(theatre.said).toEqual([]);
    expect(await bursar.find("r.0")).toMatchObject({ status: "failed", failure: { code: "estimated_over" } });
    expect(await theatre.store.budget("r.0")).toMatchObject({ ended: true, used: {} });
    expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
    expect(await theatre.store.document("history", "r.0")).toBeNull();
  });

  it("makes its parent fail that does not care, which then is no measure for others", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const result = await theatre.until(bursar.run("hasty", { times: 3, budget: FOUR }, { id: "r" }));
    expect(result).toMatchObject({ status: "failed", failure: { code: "estimated_over" } });
    expect((await theatre.store.document("history", "r"))?.body).toMatchObject({ cut: true });
  });

  it("waits for an approval that shows the prediction, with its parent, and goes on with what was suggested", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: { preflight: "ask" } });
    const paused = pausedOf(await theatre.until(bursar.run("chief", { times: 10, budget: FOUR }, { id: "r" })));
    expect(await bursar.find("r")).toMatchObject({ pause: { approvals: [], children: ["r.0"] } });
    expect(theatre.said).toEqual([]);
    const requests = await listOf(bursar.approvals());
    expect(requests).toMatchObject([
      {
        id: paused.approval_id,
        kind: "budget_extension",
        run: "r.0",
        budget: "r.0",
        about: "preflight",
        suggested_extension: { steps: 6 },
        limits: { steps: 4 },
        consumed: {},
        action: { name: "preflight", program: "speaker", fits: false, dimensions: { steps: { upper: 10, limit: 4 } } },
      },
    ]);
    theatre.clock.advance(HOUR_MS);
    expect((await theatre.store.budget("r.0"))?.watch).toEqual({ elapsed: 0, since: null });
    await theatre.until(bursar.approve(paused.approval_id as string, { by: ANN }));
    expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed", result: 10 });
    expect((await theatre.store.budget("r.0"))?.extended).toEqual({ steps: 6 });
  });

  it("is denied, and its parent is told", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: { preflight: "ask" } });
    const { approval_id } = pausedOf(
      await theatre.until(bursar.run("chief", { times: 10, budget: { fraction: 0.1 } }, { id: "r" })),
    );
    await theatre.until(bursar.deny(approval_id as string, { by: ANN, reason: "too dear" }));
    const run = await theatre.until(bursar.drive("r"));
    expect(run).toMatchObject({ status: "completed", result: { code: "child_failed", data: { status: "cancelled" } } });
    expect(theatre.said).toEqual([]);
    expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
  });

  it("is told about, once", async () => {
    const theatre = await practised();
    const { webhook, sent } = keptWebhook();
    const changed: string[] = [];
    const told = {
      webhook,
      changed: ({ id, status }: { id: string; status: string }) => changed.push(`${id} ${status}`),
    };
    await using bursar = theatre.process({ foresight: { preflight: "ask" }, ...told });
    await theatre.until(bursar.run("chief", { times: 10, budget: FOUR }, { id: "r" }));
    await settle();
    expect(sent).toEqual(["approval.requested"]);
    expect(changed).toEqual(["r.0 paused", "r paused"]);
  });

  it("is waited for by whoever drives its parent next, and asked about once", async () => {
    const theatre = await practised();
    const { seen, kill } = mortal(theatre.store);
    const first = theatre.process({ store: seen, foresight: { preflight: "ask" } });
    const { approval_id } = pausedOf(await theatre.until(first.run("chief", { times: 10, budget: FOUR }, { id: "r" })));
    kill();
    await using second = theatre.process({ foresight: { preflight: "ask" } });
    expect(pausedOf(await theatre.until(second.resume("r"))).approval_id).toBe(approval_id);
    await theatre.until(second.approve(approval_id as string, { by: ANN }));
    expect(await theatre.until(second.drive("r"))).toMatchObject({ status: "completed", result: 10 });
    expect(await estimatesIn(theatre, "r.0")).toHaveLength(1);
  });
});

describe("a child that shares its parent's budget", () => {
  const SHARED = { times: 6, budget: "share" } as const;

  it("is compared with what its parent has left, in its parent's chain; nothing is kept to compare with what it took", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    await theatre.until(bursar.run("chief", SHARED, { id: "r", limits: { steps: 8 } }));
    // The spawn itself is a step.
    expect((await estimatesIn(theatre, "r")).map(({ data }) => data)).toMatchObject([
      { run_id: "r.0", parent: "r", fits: false, dimensions: { steps: { upper: 10, limit: 7, missing: 3 } } },
    ]);
    expect(await bursar.find("r.0")).toMatchObject({ status: "completed", estimate: null });
  });

  it("is refused without any harm to the budget it shares", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: { preflight: "refuse" } });
    const result = await theatre.until(bursar.run("chief", SHARED, { id: "r", limits: { steps: 8 } }));
    expect(result).toMatchObject({ status: "completed", result: { code: "estimated_over" }, usage: { steps: 1 } });
  });

  it("asks for more for that budget, and goes on with it", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: { preflight: "ask" } });
    const { approval_id } = pausedOf(
      await theatre.until(bursar.run("chief", { ...SHARED, times: 10 }, { id: "r", limits: { steps: 8 } })),
    );
    expect(await listOf(bursar.approvals())).toMatchObject([
      { run: "r.0", budget: "r", suggested_extension: { steps: 3 }, limits: { steps: 8 }, consumed: { steps: 0 } },
    ]);
    await theatre.until(bursar.approve(approval_id as string, { by: ANN }));
    expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed", result: 10 });
    expect((await theatre.store.budget("r"))?.extended).toEqual({ steps: 3 });
  });
});

describe("what becomes of a child", () => {
  it("is said with its parent, and not by whoever drives that", async () => {
    const theatre = await practised();
    await using strict = theatre.process({ foresight: { preflight: "refuse" } });
    const terms = { id: "r", preflight: "warn" } as const;
    const result = await theatre.until(strict.run("chief", { times: 3, budget: FOUR }, terms));
    expect(result).toMatchObject({ status: "completed", result: 3 });
    const { id } = await strict.start("chief", { times: 3, budget: FOUR }, { id: "s", preflight: "refuse" });
    await using lenient = theatre.process();
    expect(await theatre.until(lenient.drive(id))).toMatchObject({ result: { code: "estimated_over" } });
  });

  it("is not looked at when foresight is switched off", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ foresight: false });
    await theatre.until(bursar.run("chief", { times: 3, budget: FOUR }, { id: "r" }));
    expect(await estimatesIn(theatre, "r.0")).toEqual([]);
    expect((await bursar.find("r.0")).estimate).toBeNull();
  });

  it("is predicted by nobody who has to be waited for: its parent's clock goes on meanwhile", async () => {
    const theatre = new Theatre([chief, speaker]);
    const asked: string[] = [];
    const predict = async ({ program }: { program: { name: string } }) => {
      asked.push(program.name);
      return { about: "a guess", dimensions: { steps: { median: 100, upper: 100 } } };
    };
    await using bursar = theatre.process({ foresight: { predictor: { predict } as never } });
    await theatre.until(bursar.run("chief", { times: 3, budget: FOUR }, { id: "r" }));
    expect(asked).toEqual(["chief"]);
  });

  it("is not begun behind the back of a parent that is over", async () => {
    let said: (value: null) => void = () => {};
    const slow = defineAgent("slow", () => Promise.resolve(null), {
      expects: () =>
        new Promise((resolve) => {
          said = resolve;
        }),
    });
    const boss = defineAgent("boss", (ctx) => ctx.spawn("slow", null));
    const theatre = new Theatre([boss, slow]);
    await using bursar = theatre.process();
    const result = theatre.until(bursar.run("boss", null, { id: "r", limits: { wall_clock_ms: 2000 } }));
    expect(await result).toMatchObject({ status: "failed", failure: { dimension: "wall_clock_ms" } });
    said(null);
    await settle();
    expect(await theatre.store.document("run", "r.0")).toBeNull();
  });
});
