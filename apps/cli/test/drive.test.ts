import { defineAgent, openBursar, openStore } from "bursar";
import { expect, test } from "vitest";
import { driveOn } from "../src/app/runs/drive-run.js";

const ANN = { name: "ann", role: "operator" } as const;
const program = defineAgent("counts", async (ctx) => {
  for (let step = 0; step < 2; step++) await ctx.step(`step ${step}`, () => step);
  return "done";
});

test("who drives a run sees what is decided the moment after it has paused", async () => {
  await using store = await openStore("memory:");
  await using bursar = openBursar({ store, programs: [program] });
  const { id } = await bursar.start("counts", null, { limits: { steps: 1 }, policies: { steps: "approval_required" } });
  const pauses: string[] = [];
  const run = await driveOn(id, {
    bursar,
    by: ANN,
    signal: new AbortController().signal,
    decide: null,
    waits: true,
    start: () => {},
    // Between the look at the run and the look at its requests, somebody elsewhere says yes.
    rest: async () => {
      for await (const request of bursar.approvals()) {
        pauses.push(request.id);
        await bursar.decide(request.id, "approve", { by: ANN });
      }
    },
    stood: () => {},
    note: () => {},
    waiting: () => {},
  });
  expect(run).toMatchObject({ status: "completed", result: "done" });
  expect(pauses).toHaveLength(1);
});
