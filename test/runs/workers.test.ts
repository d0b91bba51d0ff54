import { defineAgent, openBursar } from "bursar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../postgres/server.mjs";
import { usageWith } from "./charges.js";
import type { WorkerProcess } from "./process.js";
import { Scene, type Seen } from "./scene.js";
import { KINDS, type Kind, startOf, undisturbed } from "./starting.js";

const RUNS = 20;
/** Longer than any pause of a busy machine: nobody loses a run that he is driving. */
const CLAIM_MS = 60_000;

let server: PostgresServer;
let straight: ReadonlyMap<string, Seen>;
beforeAll(async () => {
  [server, straight] = await Promise.all([startPostgres(), undisturbed(KINDS.map((kind) => startOf(kind)))]);
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const kindOf = (at: number): Kind => KINDS[at % KINDS.length] ?? "typescript";
const TWENTY = Array.from({ length: RUNS }, (_, at) => startOf(kindOf(at), { id: `run-${at}` }));

/** Takes in what a worker has said. */
function listen(worker: WorkerProcess, ended: Map<string, string>, name: string): void {
  for (const { run, status } of worker.heard()) {
    if (ended.has(run)) throw new Error(`${run} has ended twice, with ${ended.get(run)} and with ${name}`);
    if (status !== "completed") throw new Error(`${run} is ${status}`);
    ended.set(run, name);
  }
}

describe.each(["SQLite", "PostgreSQL"])("two workers on one store, on %s", (where) => {
  test("share twenty runs, and do everything once", async () => {
    await using scene = await Scene.open(where === "SQLite" ? undefined : { url: server.url, schema: "shared" });
    const here = new Set<string>();
    let both = () => {};
    const together = new Promise<void>((resolve) => {
      both = resolve;
    });
    // Nobody gets ahead before the other one has runs of his own.
    scene.doors.shut = async ({ worker }) => {
      if (worker !== "") here.add(worker);
      if (here.size === 2) both();
      await together;
      return false;
    };
    const [one, two] = [scene.start({ starts: TWENTY, claim_ms: CLAIM_MS }), scene.start({ claim_ms: CLAIM_MS })];
    const ended = new Map<string, string>();
    const all = () => {
      listen(one, ended, "one");
      listen(two, ended, "two");
      return ended.size === RUNS;
    };
    // The one that says the last word is the one that notices.
    await Promise.race([one.until(all), two.until(all)]);
    await Promise.all([one.stop(), two.stop()]);
    expect(new Set(ended.values()).size).toBe(2);
    for (const [at, { options }] of TWENTY.entries()) {
      const seen = await scene.see(options.id ?? "");
      const other = straight.get(`${kindOf(at)}-run`);
      expect(seen.end).toMatchObject({ status: "completed", result: other?.end.result });
      expect(seen).toMatchObject({ estimated: [], held: false });
      expect(seen.usage.steps).toBe(other?.usage.steps);
    }
    const times = [...scene.doors.asked.values(), ...scene.doors.used.values()];
    expect({ effects: times.length, each: new Set(times) }).toEqual({ effects: RUNS * 10, each: new Set([1]) });
  });
});

/** Writes a run down that nobody drives here. */
async function startAnother(scene: Scene, id: string): Promise<void> {
  await using store = await scene.store();
  const { input, options } = startOf("typescript", { id });
  await openBursar({ store }).start(
    defineAgent("typescript", async () => null),
    input,
    options,
  );
}

test("a worker that slept until others had its runs cannot write when it wakes up", async () => {
  await using scene = await Scene.open({ url: server.url, schema: "asleep" });
  const starts = KINDS.map((kind) => startOf(kind));
  const sleeper = scene.start({ starts });
  const standing = new Set<string>();
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  scene.doors.shut = async ({ door, run, turn, worker }) => {
    if (door !== "unwritten" || turn !== 1 || worker !== "worker-0") return false;
    standing.add(run);
    sleeper.look();
    await opened;
    return false;
  };
  await sleeper.until(() => standing.size === starts.length);
  sleeper.sleep();
  const next = scene.start({ claim_ms: CLAIM_MS });
  const ended = new Map<string, string>();
  await next.until(() => {
    listen(next, ended, "next");
    return ended.size === starts.length;
  });
  await next.stop();
  const before = await Promise.all(starts.map(({ options }) => scene.see(options.id ?? "")));
  open();
  sleeper.wake();
  // When it has driven another run to its end, it has long tried to go on with those it had.
  await startAnother(scene, "later");
  await sleeper.until(() => [...sleeper.heard()].some(({ run }) => run === "later"));
  await sleeper.stop();
  for (const [at, { options }] of starts.entries()) {
    const id = options.id ?? "";
    const seen = await scene.see(id);
    expect(seen).toEqual(before[at]);
    expect(seen.estimated).toEqual([`${id}/2`]);
    expect(seen.usage).toEqual(usageWith(straight.get(id), [`${id}/2`]));
    expect(seen.end).toEqual(straight.get(id)?.end);
    expect(scene.doors.asked.get(`${id}/2`)).toBe(2);
  }
});
