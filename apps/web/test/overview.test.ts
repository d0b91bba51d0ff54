import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openScene, POLL, type Scene } from "./scene.js";

const RUNS = 53;

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
  for (let run = 0; run < RUNS; run++) await scene.bursar.start("sender", null);
  await vi.waitFor(async () => expect(await scene.store.counts("run")).toEqual({ paused: RUNS }), POLL);
});
afterAll(() => scene[Symbol.asyncDispose]());

test("the overview says how many runs and requests there are beside those that it shows, and leads to them", async () => {
  await using visit = await scene.visit("/");
  const { page } = visit;
  await page.getByRole("link", { name: `All ${RUNS} requests` }).waitFor();
  const section = page.getByRole("region", { name: "Under way" });
  await section.getByText(`50 of ${RUNS} are shown.`).waitFor();
  await section.getByText(`50 of ${RUNS} are shown.`).getByRole("link", { name: "paused" }).click();
  await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  expect(new URL(page.url()).search).toBe("?status=paused");
  expect(visit.faults).toEqual([]);
});
