import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patience, report, rounds, SEED, withSeed } from "../../packages/bursar/test/stores/seeds.js";
import { type PostgresServer, startPostgres } from "../postgres/server.mjs";
import { usageWith } from "./charges.js";
import { Scene, type Seen } from "./scene.js";
import { KINDS, startOf, TURNS, undisturbed } from "./starting.js";
import { Victim } from "./victims.js";

const MOST_KILLS = 20;

let server: PostgresServer;
let straight: ReadonlyMap<string, Seen>;
let schemas = 0;
beforeAll(async () => {
  [server, straight] = await Promise.all([startPostgres(), undisturbed(KINDS.map((kind) => startOf(kind)))]);
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** Kills one worker after the other, each when all of its runs stand where they are to lose it. */
async function killAll(scene: Scene, victims: readonly Victim[]): Promise<number> {
  const byId = new Map(victims.map((victim) => [victim.id, victim]));
  const policies = { steps: "approval_required" } as const;
  let starts = victims.map(({ kind, steps }) => startOf(kind, { limits: { steps }, policies }));
  for (let kills = 0; kills < MOST_KILLS; kills++) {
    const approves = victims.flatMap((victim) =>
      victim.takeApproval() ? [{ id: victim.id, extensions: { steps: 100 } }] : [],
    );
    const worker = scene.start({ starts, approves });
    starts = [];
    scene.doors.shut = (visit) => {
      const shut = byId.get(visit.run)?.shuts(visit) ?? false;
      if (shut) worker.look();
      return shut;
    };
    await worker.until(() => {
      for (const { run, status } of worker.heard()) byId.get(run)?.tell(status);
      return victims.every(({ stands }) => stands);
    });
    if (victims.every(({ hasEnded }) => hasEnded)) {
      await worker.stop();
      return kills;
    }
    await worker.kill();
    for (const victim of victims) victim.killed();
  }
  throw new Error(`the runs do not come to an end: ${victims.map(({ id, status }) => `${id} ${status}`).join(", ")}`);
}

/** A run that lost its workers has ended as it would have otherwise, and whatever was done twice is charged and marked. */
async function check(scene: Scene, { id, kills }: Victim): Promise<void> {
  const seen = await scene.see(id);
  const other = straight.get(id);
  expect(seen.end).toEqual({ ...other?.end, status: "completed" });
  const keysAt = (...doors: readonly string[]) =>
    kills.filter(({ door }) => doors.includes(door)).map(({ key }) => key);
  const unknown = keysAt("unsent", "in flight", "unwritten");
  expect(seen.estimated).toEqual(unknown);
  expect(seen.usage).toEqual(usageWith(other, unknown));
  expect(seen.held).toBe(false);
  expect([seen.links[0]?.event, seen.links.at(-1)?.event]).toEqual(["Allocation", "RunCompleted"]);
  for (let turn = 0; turn < TURNS; turn++) {
    const [question, sum] = [`${id}/${2 * turn}`, `${id}/${2 * turn + 1}`];
    const times = (keys: readonly string[], key: string) => 1 + keys.filter((each) => each === key).length;
    expect(scene.doors.asked.get(question)).toBe(times(keysAt("in flight", "unwritten"), question));
    expect(scene.doors.used.get(sum)).toBe(times(keysAt("tool"), sum));
  }
}

describe.each(["SQLite", "PostgreSQL"])("programs of every kind whose workers are killed on %s", (name) => {
  test("come to the same end, and pay for what was in flight", { timeout: patience() }, async () => {
    for (let round = 0; round < rounds(1); round++) {
      const seed = SEED + round;
      await withSeed(seed, async () => {
        const postgres = name === "SQLite" ? undefined : { url: server.url, schema: `runs_${schemas++}` };
        await using scene = await Scene.open(postgres);
        const victims = KINDS.map((kind, at) => new Victim(kind, seed * KINDS.length + at));
        const kills = await killAll(scene, victims);
        const everywhere = ["in flight", "paused", "resuming", "tool", "unsent", "unwritten"];
        for (const victim of victims) {
          expect(victim.kills.map(({ door }) => door).toSorted()).toEqual(everywhere);
          await check(scene, victim);
        }
        report({ "workers killed": kills, "runs that lost a worker": kills * victims.length });
      });
    }
  });
});
