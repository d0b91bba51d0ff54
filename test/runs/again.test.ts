import { beforeAll, describe, expect, test } from "vitest";
import type { Visit } from "./doors.js";
import type { Errand } from "./process.js";
import { Scene, type Seen } from "./scene.js";
import { type Start, startOf, TURNS, undisturbed } from "./starting.js";

const GUESTS = ["python", "javascript", "plan"] as const;

/** Programs that compute and write much before they ask for anything: most of it comes again when they are replayed. */
const HEAVY = { before: 30_000, bytes: 200_000 };
let straight: ReadonlyMap<string, Seen>;
beforeAll(async () => {
  straight = await undisturbed(GUESTS.map((kind) => startOf(kind, { input: HEAVY })));
}, 120_000);

/** Drives runs until one of them stands before a door, and kills their worker there. */
async function killAt(scene: Scene, errand: Partial<Errand>, where: (visit: Visit) => boolean): Promise<void> {
  let stands = false;
  const worker = scene.start(errand);
  scene.doors.shut = (visit) => {
    const shut = where(visit);
    if (shut) {
      stands = true;
      worker.look();
    }
    return shut;
  };
  await worker.until(() => {
    for (const { run, status } of worker.heard()) {
      if (!stands) throw new Error(`${run} was ${status} before it came to the door`);
    }
    return stands;
  });
  await worker.kill();
  scene.doors.shut = () => false;
}

/** Lets a worker drive one run until it stands still or has ended. */
async function drive(scene: Scene, errand: Partial<Errand>, id: string): Promise<Seen> {
  const worker = scene.start(errand);
  let done = false;
  await worker.until(() => {
    for (const { run } of worker.heard()) done ||= run === id;
    return done;
  });
  await worker.stop();
  return scene.see(id);
}

/** Kills the worker of a run near its end, and lets another one do it again from the beginning. */
async function doneAgain(start: Start, id: string): Promise<Seen> {
  await using scene = await Scene.open();
  await killAt(scene, { starts: [start] }, ({ door, turn }) => door === "tool" && turn === TURNS - 1);
  return await drive(scene, {}, id);
}

describe.each(GUESTS)("a program in %s that is done again after a crash", (kind) => {
  const id = `${kind}-run`;

  test("has as much fuel as it had the first time", async () => {
    // Exactly what it needs, and far less than it needs twice.
    const fuel = Number(straight.get(id)?.usage.fuel);
    const seen = await doneAgain(startOf(kind, { input: HEAVY, limits: { fuel } }), id);
    expect(seen.end).toEqual(straight.get(id)?.end);
    expect(seen.usage).toEqual(straight.get(id)?.usage);
  });

  test("is charged when it dies in the very call at which it had stood still", async () => {
    await using scene = await Scene.open();
    const policies = { steps: "approval_required" } as const;
    const paused = await drive(scene, { starts: [startOf(kind, { limits: { steps: 2 }, policies })] }, id);
    expect(paused.result).toMatchObject({ status: "paused", exhausted_dimension: "steps" });
    const approves = [{ id, extensions: { steps: 100 } }];
    await killAt(scene, { approves }, ({ door, turn }) => door === "in flight" && turn === 1);
    const seen = await drive(scene, {}, id);
    expect(seen).toMatchObject({ result: { status: "completed" }, estimated: [`${id}/2`], held: false });
    expect(scene.doors.asked.get(`${id}/2`)).toBe(2);
  });
});

test("a program that is done again may write as much as it did the first time", async () => {
  const id = "python-run";
  const storage_write_bytes = HEAVY.bytes + 100_000;
  const seen = await doneAgain(startOf("python", { input: HEAVY, limits: { storage_write_bytes } }), id);
  expect(seen.end).toEqual(straight.get(id)?.end);
  expect(seen.usage).toEqual(straight.get(id)?.usage);
});

test("a program may write as much as its limit says", async () => {
  const bytes = 1000;
  const start = startOf("python", { input: { bytes }, limits: { storage_write_bytes: bytes + 2 * TURNS } });
  const seen = (await undisturbed([start])).get("python-run");
  expect(seen?.result).toMatchObject({ status: "completed", usage: { storage_write_bytes: bytes + 2 * TURNS } });
});

test("a program that was changed pauses the run, which goes on when the old one is back", async () => {
  await using scene = await Scene.open();
  const id = "typescript-run";
  const starts = [startOf("typescript")];
  await killAt(scene, { starts }, ({ door, turn }) => door === "in flight" && turn === 2);
  const changed = await drive(scene, { wording: ", roughly" }, id);
  expect(changed.result).toMatchObject({ status: "paused", problem: expect.stringContaining("as its effect") });
  const seen = await drive(scene, { resumes: [id] }, id);
  expect(seen).toMatchObject({ result: { status: "completed" }, held: false, estimated: [`${id}/4`] });
});
