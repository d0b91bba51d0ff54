import {
  defineAgent,
  defineDimension,
  defineTool,
  openBursar,
  openStore,
  type Program,
  STANDARD,
  type Store,
} from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresEngine, sqliteEngine, type TestEngine } from "../stores/engines.js";

const CUSTOM = STANDARD.with(defineDimension({ id: "emails_sent", kind: "sum", unit: "emails" }));
const ANN = { name: "ann", role: "operator" } as const;

const mail = defineTool({
  name: "mail",
  description: "Sends one.",
  input: { type: "object" },
  quote: { emails_sent: 1 },
  run: () => ({ value: "sent", usage: { emails_sent: 1 } }),
});
const nothing = defineTool({ name: "nothing", description: "Does nothing.", input: { type: "object" }, run: () => 1 });
const mailer = defineAgent("mailer", (ctx) => ctx.tool("mail"));
const walker = defineAgent("walker", async (ctx, steps: number) => {
  for (let step = 0; step < steps; step++) await ctx.tool("nothing");
  return steps;
});

async function historiesIn(store: Store): Promise<number> {
  return Object.values(await store.counts("history")).reduce((sum, count) => sum + count, 0);
}

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("%s: looking ahead", (_name, start) => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  test("goes on where a dimension is not in the table any more, and where one is new", async () => {
    const url = engine.fresh();
    await using knows = await openStore(url, { dimensions: CUSTOM });
    await using other = await openStore(url);
    await using first = openBursar({ store: knows, programs: [mailer], tools: [mail] });
    for (let run = 0; run < 3; run++) expect((await first.run("mailer", null)).status).toBe("completed");
    const plain = defineTool({ ...mail, quote: {}, run: () => "sent" });
    const foresight = { preflight: "refuse" } as const;
    await using second = openBursar({ store: other, programs: [mailer], tools: [plain], foresight });
    expect(await second.run("mailer", null)).toMatchObject({ status: "completed" });
    expect((await second.estimate("mailer", null)).estimate?.dimensions).not.toHaveProperty("emails_sent");
    expect((await first.estimate("mailer", null)).estimate?.dimensions).toHaveProperty("emails_sent");
  });

  test("takes programs with any name", async () => {
    await using store = await openStore(engine.fresh());
    const play = () => ({ result: Promise.resolve(null) });
    const named = (name: string): Program => ({ kind: "odd", name, digest: `digest of ${name}`, source: null, play });
    const names = ["a\u0001b", "🦊", "'; DROP TABLE run; --", "%_\\", "é".repeat(300), `${"é".repeat(300)}!`, " "];
    await using bursar = openBursar({ store, programs: names.map(named) });
    for (const name of names) {
      expect((await bursar.estimate(name, null)).estimate).toBeNull();
      expect((await bursar.run(name, null)).status).toBe("completed");
      expect((await bursar.estimate(name, null)).estimate?.opinions[0]?.about).toBe("the last 1 run");
    }
  });

  test("drives runs that were written before there were estimates", async () => {
    await using store = await openStore(engine.fresh());
    await using bursar = openBursar({ store, programs: [walker], tools: [nothing] });
    await bursar.start("walker", 2, { id: "old" });
    const document = await store.document("run", "old");
    if (document === null) throw new Error("it was just written");
    const { estimate: _, execution: __, ...body } = document.body;
    const { status, version, budget } = document;
    await store.apply([{ op: "put", kind: "run", id: "old", budget, status, body, version }]);
    expect((await bursar.find("old")).estimate).toBeNull();
    expect(await bursar.result(await bursar.drive("old"))).toMatchObject({ status: "completed", result: 2 });
    expect(await historiesIn(store)).toBe(1);
  });

  test("holds a run back also where it is switched off", async () => {
    const url = engine.fresh();
    await using store = await openStore(url);
    await using elsewhere = await openStore(url);
    const world = { programs: [walker], tools: [nothing] };
    await using on = openBursar({ store, ...world, foresight: { preflight: "ask" } });
    await using off = openBursar({ store: elsewhere, ...world, foresight: false });
    for (let run = 0; run < 10; run++) await on.run("walker", 9, { preflight: "warn" });
    const { id } = await on.start("walker", 9, { limits: { steps: 5 } });
    expect((await off.drive(id)).status).toBe("paused");
    expect((await off.resume(id, ANN)).status).toBe("paused");
    const result = await off.resume(id, ANN);
    if (result.status !== "paused" || result.approval_id === null) throw new Error("it does not wait any more");
    expect(await off.approve(result.approval_id, { by: ANN })).toMatchObject({ status: "completed", result: 9 });
    // Who has driven it does not learn.
    expect(await historiesIn(store)).toBe(10);
  });

  test("many runs at once leave a past each, and none fails because of it", async () => {
    await using store = await openStore(engine.fresh());
    await using bursar = openBursar({ store, programs: [walker], tools: [nothing] });
    const runs = Array.from({ length: 60 }, (_, at) => bursar.run("walker", at % 4, { limits: { steps: 50 } }));
    expect(new Set((await Promise.all(runs)).map(({ status }) => status))).toEqual(new Set(["completed"]));
    expect(await historiesIn(store)).toBe(60);
    const { estimate, fits } = await bursar.estimate("walker", 3);
    expect(fits).toBe(true);
    expect(estimate?.dimensions.steps?.upper).toBeGreaterThanOrEqual(3);
  });
});
