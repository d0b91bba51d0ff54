import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { Feed } from "../../src/views/feed.js";
import { budgetsOf, budgetView, burnDown, positionsFor, runOutlook, runRow, runView } from "../../src/views/views.js";
import { mortal, settle, Theatre } from "../runs/stage.js";

/** Thinks once a second, for as long as somebody drives it. */
const thinker = defineAgent("thinker", async (ctx) => {
  for (;;) {
    await ctx.model({ prompt: "again" });
    await ctx.sleep(1000);
  }
});

const CLAIM_MS = 30_000;

/** A run whose process is killed after three seconds; its last word was then. */
async function killed() {
  const theatre = new Theatre([thinker]);
  const { seen, kill } = mortal(theatre.store);
  const bursar = theatre.process({ store: seen });
  void bursar.run("thinker", {}, { id: "r", limits: { wall_clock_ms: 600_000, llm_tokens: 1_000_000 } });
  for (let second = 0; second < 3; second++) {
    await settle();
    theatre.clock.advance(1000);
  }
  await settle();
  kill();
  return theatre;
}

test("the clock of a run whose process was killed stands still from its last word on, as for who takes it over", async () => {
  const theatre = await killed();
  const { store, clock } = theatre;
  const clockOf = async () => {
    const view = await runView(store, "r");
    return view?.budgets[0]?.dimensions.find(({ dimension }) => dimension === "wall_clock_ms");
  };
  clock.advance(1000);
  expect(await runView(store, "r")).toMatchObject({ interrupted: false, usage: { wall_clock_ms: 4000 } });
  clock.advance(600_000);
  const run = await runView(store, "r");
  const used = run?.usage.wall_clock_ms;
  expect(run).toMatchObject({ interrupted: true, outlook: null });
  expect(Number(used)).toBeLessThanOrEqual(3000);
  expect(await clockOf()).toMatchObject({ used, exhausted_at: null });
  clock.advance(60_000);
  expect(await clockOf()).toMatchObject({ used, exhausted_at: null });
  const document = await store.document("run", "r");
  if (document === null) throw new Error("it is there");
  const record = { ...document.body, id: "r", status: "running" } as unknown as Parameters<typeof burnDown>[1];
  expect((await runRow(store, record)).usage.wall_clock_ms).toBe(used);
  expect(await runOutlook(store, "r")).toBeNull();
  const last = (await burnDown(store, record)).find(({ dimension }) => dimension === "wall_clock_ms")?.points.at(-1);
  expect(last).toMatchObject({ at: Number(run?.worker?.expires) - CLAIM_MS, used });
  const positions = [...(await positionsFor(store, record)), ...((await budgetsOf(store, record))[0]?.positions ?? [])];
  expect(positions.filter(({ dimension }) => dimension.id === "wall_clock_ms").map((each) => each.used)).toEqual([
    used,
    used,
  ]);
  const budget = await budgetView(store, "r");
  expect(budget?.dimensions.find(({ dimension }) => dimension === "wall_clock_ms")).toMatchObject({ used });

  void theatre.process().resume("r");
  await settle();
  const taken = await runView(store, "r");
  expect(taken).toMatchObject({ interrupted: false, usage: { wall_clock_ms: used } });
});

test("whoever listens is told once that a run's worker is gone, though nobody has written anything", async () => {
  const { store, clock } = await killed();
  using feed = new Feed({ store, timer: clock });
  const told: string[] = [];
  using _ = feed.changes(({ runs }) => told.push(...runs));
  await feed.ready();
  for (let looks = 0; looks < 4; looks++) {
    clock.advance(CLAIM_MS);
    await settle();
  }
  expect(told).toEqual(["r"]);
});
