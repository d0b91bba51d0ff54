import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../postgres/server.mjs";
import { Scene, type Seen } from "./scene.js";
import { startOf, undisturbed } from "./starting.js";

const ID = "python-run";
const APPROVES = [{ id: ID, extensions: { steps: 100 } }];

let server: PostgresServer;
let straight: Seen | undefined;
beforeAll(async () => {
  server = await startPostgres();
  straight = (await undisturbed([startOf("python")])).get(ID);
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** A Python program that stands still in the middle, and whose machine is gone. */
async function pausedAt(scene: Scene): Promise<void> {
  const policies = { steps: "approval_required" } as const;
  const first = scene.start({ starts: [startOf("python", { limits: { steps: 5 }, policies })] });
  await first.until(() => [...first.heard()].some(({ status }) => status === "paused"));
  await first.kill();
}

test("a Python program that stands still goes on on another machine with the same store and key", async () => {
  await using scene = await Scene.open({ url: server.url, schema: "elsewhere" });
  await pausedAt(scene);
  const cacheFolder = join(scene.folder, "another cache");
  const second = scene.start({ approves: APPROVES, sandbox: { ...scene.sandbox, cacheFolder } });
  await second.until(() => [...second.heard()].some(({ status }) => status === "completed"));
  await second.stop();
  const seen = await scene.see(ID);
  expect(seen.end).toEqual(straight?.end);
  expect(seen.usage).toEqual(straight?.usage);
  // Nothing was done twice.
  expect([...scene.doors.asked.values(), ...scene.doors.used.values()].every((times) => times === 1)).toBe(true);
});

/** Lets a worker with another key try. Gives back all that is known of the run then. */
async function strange(scene: Scene): Promise<{ readonly seen: Seen; readonly told: string }> {
  await pausedAt(scene);
  const keyFile = join(scene.folder, "another key");
  const stranger = scene.start({ approves: APPROVES, sandbox: { ...scene.sandbox, keyFile } });
  await stranger.until(() => stranger.said.length > 0);
  await stranger.kill();
  const seen = await scene.see(ID);
  return { seen, told: JSON.stringify([stranger.said, seen.result]) };
}

test("with another key it is refused, with a reason", async () => {
  await using scene = await Scene.open();
  const { told } = await strange(scene);
  expect(told).toContain("it was saved with the sandbox key");
  expect(told).toContain("BURSAR_SANDBOX_KEY");
});

test("a worker with another key does nothing that the program waits for", async () => {
  await using scene = await Scene.open();
  await strange(scene);
  // Five steps were done before the program stood still, and nothing since.
  expect(scene.doors.asked.size + scene.doors.used.size).toBe(5);
});

test("a worker with another key does not end the run for those who have the right one", async () => {
  await using scene = await Scene.open();
  const { seen } = await strange(scene);
  expect(seen.result.status).not.toBe("failed");
  const second = scene.start({});
  await second.until(() => [...second.heard()].some(({ status }) => status === "completed"));
  await second.stop();
  expect((await scene.see(ID)).end).toEqual(straight?.end);
});
