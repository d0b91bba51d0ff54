import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { listRuns, runView } from "../../src/views/views.js";
import { Theatre } from "./stage.js";

const program = defineAgent("sleeps", async (ctx) => {
  await ctx.sleep(3_600_000);
  return "done";
});

test("a run that its driver lets go of waits for the next one, and is not said to be running", async () => {
  const theatre = new Theatre([program]);
  const bursar = theatre.process();
  const run = await bursar.start("sleeps", null, { id: "r" });
  await bursar.claim(run);
  expect(await runView(theatre.store, "r")).toMatchObject({ status: "running", interrupted: false });
  await theatre.until(bursar.close());
  expect(await runView(theatre.store, "r")).toMatchObject({ status: "queued", interrupted: false, worker: null });
});

test("a run whose worker is gone is said to be interrupted, once its claim is over", async () => {
  const theatre = new Theatre([program]);
  const timer = { after: () => ({ [Symbol.dispose]() {} }) };
  // A worker whose heart does not beat.
  const bursar = theatre.process({ claim_ms: 1000, timer });
  await bursar.claim(await bursar.start("sleeps", null, { id: "r" }));
  const shown = async () =>
    (await listRuns(theatre.store)).items.map(({ status, interrupted }) => [status, interrupted]);
  expect(await shown()).toEqual([["running", false]]);
  theatre.clock.advance(1001);
  expect(await shown()).toEqual([["running", true]]);
  expect(await runView(theatre.store, "r")).toMatchObject({ status: "running", interrupted: true });
});
