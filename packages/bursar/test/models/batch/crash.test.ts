import { describe, expect, test } from "vitest";
import type { Batches } from "../../../src/models/batch/batches.js";
import { Dice } from "../../runs/simulation/dice.js";
import { Handle } from "../../runs/simulation/handle.js";
import { COST_NANO, quiet, Scene, type SceneOptions } from "./scene.js";

const NAMES = ["one", "two", "three"];
const STEP_MS = 30_000;

/** Hands three calls over. */
async function handed(options: SceneOptions): Promise<{ readonly scene: Scene; readonly desk: Batches }> {
  const scene = await Scene.open(options);
  const desk = scene.desk({ worker: "healthy" });
  const purse = await scene.purse("b", 1);
  for (const prompt of NAMES) await desk.hand(purse, { prompt, max_tokens: 50 }, { id: prompt });
  return { scene, desk };
}

/** A process that dies at this write lets rounds pass until it has, or all is done. */
async function dying(scene: Scene, at: number, when: "before" | "after"): Promise<Handle> {
  const handle = new Handle(scene.store, scene.clock, new Dice(at), { dies: { at, when } });
  const desk = scene.desk({ store: handle, timer: handle.timer, worker: "dying" });
  for (let round = 0; round < 12 && !handle.dead; round++) {
    scene.clock.advance(STEP_MS);
    let over = false;
    void desk.round().finally(() => {
      over = true;
    });
    while (!over && !handle.dead) await quiet();
  }
  return handle;
}

async function check(scene: Scene, desk: Batches, where: string): Promise<void> {
  await scene.rounds(desk, 60, STEP_MS);
  const answers = await Promise.all(NAMES.map((name) => desk.answer(name)));
  expect({ where, answers }).toMatchObject({ where, answers: NAMES.map((name) => ({ text: `You said: ${name}` })) });
  // The script has seen every call once, so that none was sent twice.
  expect({ where, count: scene.server.count }).toEqual({ where, count: NAMES.length });
  const { used, reserved } = await scene.used("b");
  expect({ where, reserved }).toEqual({ where, reserved: {} });
  expect({ where, used }).toMatchObject({ where, used: { cost_usd: 3 * COST_NANO, steps: 3 } });
  await scene.links("b");
}

describe.each(["openai", "anthropic"] as const)("a process that dies at any write, at %s", (provider) => {
  test("is followed by another, and no call is sent twice, lost, or charged twice", async () => {
    const calm = await handed({ provider });
    const untouched = await dying(calm.scene, Number.POSITIVE_INFINITY, "before");
    await check(calm.scene, calm.desk, "undisturbed");
    await calm.scene[Symbol.asyncDispose]();
    expect(untouched.writes).toBeGreaterThan(5);
    for (let at = 0; at < untouched.writes; at++) {
      for (const when of ["before", "after"] as const) {
        const { scene, desk } = await handed({ provider });
        await using _ = scene;
        expect((await dying(scene, at, when)).dead).toBe(true);
        await check(scene, desk, `killed ${when} write ${at}`);
      }
    }
  });
});

describe.each(["openai", "anthropic"] as const)("an interface that fails, at %s", (provider) => {
  const cut = { kind: "cut", done: true } as const;
  const busy = { kind: "status", status: 429 } as const;
  const broken = { kind: "status", status: 500, done: true } as const;
  const deaf = { kind: "status", status: 500 } as const;

  test.each([
    ["a batch arrives, and nobody is told", { create: [cut] }],
    ["a batch arrives with an error", { create: [broken] }],
    ["a batch does not arrive, and nobody is told", { create: [deaf, { kind: "cut" }] }],
    ["the provider has no room for a while", { create: [busy, busy, { kind: "status", status: 503 }] }],
    ["a file cannot be handed in for a while", { file: [busy, deaf, { kind: "cut" }] }],
    ["nobody can look, and nobody can list, for a while", { create: [cut], list: [deaf, busy], look: [deaf, busy] }],
    ["results break off", { results: [{ kind: "cut" }, deaf] }],
  ] as const)("%s", async (_, faults) => {
    const fault = (question: string, number: number) =>
      (faults as Record<string, readonly (typeof busy)[]>)[question]?.[number - 1] ?? null;
    const { scene, desk } = await handed({ provider, batching: { fault } });
    await using _scene = scene;
    await scene.rounds(desk, 40, STEP_MS);
    await check(scene, desk, "");
    expect(scene.server.batches).toHaveLength(1);
  });

  test("a provider that says no is told to whoever waits, and costs nothing", async () => {
    const fault = (question: string) => (question === "create" ? ({ kind: "status", status: 400 } as const) : null);
    const { scene, desk } = await handed({ provider, batching: { fault } });
    await using _ = scene;
    await scene.rounds(desk, 5);
    for (const name of NAMES) await expect(desk.answer(name)).rejects.toMatchObject({ code: "provider_refused" });
    expect(await scene.used("b")).toMatchObject({ used: { cost_usd: 0, steps: 3 }, reserved: {} });
  });

  test("where nobody can ever tell whether a batch arrived, it is paid for", async () => {
    const fault = (question: string) => {
      if (question === "create") return cut;
      return question === "list" ? ({ kind: "status", status: 404 } as const) : null;
    };
    const { scene, desk } = await handed({ provider, batching: { fault } });
    await using _ = scene;
    await scene.rounds(desk, 10, STEP_MS);
    for (const name of NAMES) await expect(desk.answer(name)).rejects.toMatchObject({ code: "batch_lost" });
    const { used, reserved } = await scene.used("b");
    expect(reserved).toEqual({});
    expect((used as Record<string, number>).cost_usd).toBeGreaterThan(3 * COST_NANO);
    expect(scene.server.batches).toHaveLength(1);
  });
});

test("what nobody has sent for a day is given back", async () => {
  const { scene, desk } = await handed({});
  await using _ = scene;
  await scene.rounds(desk, 1, 25 * 60 * 60_000);
  for (const name of NAMES) await expect(desk.answer(name)).rejects.toMatchObject({ code: "batch_late" });
  expect(await scene.used("b")).toEqual({ used: {}, reserved: {} });
});

test("any number of processes may look at once: every call is sent once and settled once", async () => {
  for (let seed = 0; seed < 10; seed++) {
    const { scene, desk } = await handed({ batching: { polls: 2 } });
    await using _ = scene;
    const dice = new Dice(seed);
    const desks = Array.from({ length: 4 }, (_, at) => {
      const handle = new Handle(scene.store, scene.clock, dice, { hiccups: at === 0 ? 10 : 0 });
      return scene.desk({ store: handle, timer: handle.timer, worker: `worker-${at}` });
    });
    for (let round = 0; round < 10; round++) {
      scene.clock.advance(STEP_MS);
      await Promise.allSettled(desks.map((each) => each.round()));
    }
    await check(scene, desk, `seed ${seed}`);
    expect(scene.server.batches).toHaveLength(1);
  }
});
