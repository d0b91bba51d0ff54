import { describe, expect, test } from "vitest";
import type { GuestResult, GuestSession, Sandbox } from "../../src/ports/sandbox.js";
import { executionIn, executionOfRun } from "../../src/runs/execution.js";
import { guestProgram } from "../../src/runs/guest.js";
import { putRun, readRun } from "../../src/runs/record.js";
import { runView } from "../../src/views/run-view.js";
import { ANN, Theatre } from "./stage.js";

const ANALYSIS = {
  consumed: 900,
  budget: 1000,
  utilization_percent: 90,
  status: "critical",
  likely_causes: ["a loop"],
};
const GUIDANCE = { error_type: "OutOfFuel", error_message: "no more", actionable_guidance: ["do less"] };

/** A sandbox whose guests burn as much as they may, and come to the end that is wanted. */
function sandboxThatEnds(end: Partial<GuestResult>): Sandbox {
  let allowed = 0;
  const session: GuestSession = {
    begin: async (_code, { fuelBudget = 0 } = {}) => {
      allowed = fuelBudget;
      const fuel = end.success === true ? 700 : Math.min(allowed, 1000);
      const result = {
        success: false,
        exit_code: 1,
        stdout: "out",
        stderr: "",
        metadata: { trap_reason: null },
        ...end,
      };
      return {
        kind: "ended",
        result,
        usage: { fuel, memory_bytes: 1, bytes_written: 0, bytes_refused: 0, memory_refused: 0 },
      };
    },
    resume: () => Promise.reject(new Error("nothing was asked")),
    allow: async () => {},
    save: async () => new Uint8Array(),
    cancel: async () => {},
    destroy: async () => {},
  };
  return { createSession: async () => session, restoreSession: async () => session };
}

function theatreWith(end: Partial<GuestResult>): Theatre {
  const source = { language: "python", code: "pass", packages: [], memory_bytes: 1 } as const;
  return new Theatre([guestProgram("guest", source, async () => sandboxThatEnds(end))]);
}

const OUT_OF_FUEL = { trap_reason: "out_of_fuel", fuel_analysis: ANALYSIS, error_guidance: GUIDANCE };

describe("what the sandbox says of a program", () => {
  test("stands in the run that ran out of fuel, in its result and in its view", async () => {
    const theatre = theatreWith({ metadata: OUT_OF_FUEL });
    const done = await theatre.process().run("guest", null, { id: "r", limits: { fuel: 1000 } });
    const execution = {
      fuel_analysis: ANALYSIS,
      error_guidance: { ...GUIDANCE, actionable_guidance: ["do less", expect.stringContaining("--budget fuel=2000")] },
    };
    expect(done).toMatchObject({ status: "failed", failure: { dimension: "fuel" }, execution });
    expect(await runView(theatre.store, "r")).toMatchObject({ execution });
    // The chain is not made longer by it.
    expect(JSON.stringify(await theatre.links("r"))).not.toContain("do less");
  });

  test("stands in a run that waits for more fuel, and in one that was denied it", async () => {
    const theatre = theatreWith({ metadata: OUT_OF_FUEL });
    const policies = { fuel: "approval_required" } as const;
    const paused = await theatre.process().run("guest", null, { id: "r", limits: { fuel: 1000 }, policies });
    expect(paused).toMatchObject({ status: "paused", execution: { fuel_analysis: ANALYSIS } });
    const denied = await theatre.process().deny("r/checkpoint", { by: ANN, reason: "no" });
    expect(denied).toMatchObject({ status: "cancelled", execution: { fuel_analysis: ANALYSIS } });
  });

  test("is not told of a run that goes on meanwhile", async () => {
    const theatre = theatreWith({ metadata: OUT_OF_FUEL });
    await theatre.process().run("guest", null, { id: "r", limits: { fuel: 1000 } });
    const document = await theatre.store.document("run", "r");
    if (document === null) throw new Error("no run");
    expect(executionOfRun({ ...readRun(document), status: "running" })).toBeNull();
  });

  test("names no budget where there is no limit", async () => {
    const unbounded = { ...ANALYSIS, budget: 1_000_000_000_000_000, utilization_percent: 0, status: "efficient" };
    const theatre = theatreWith({ success: true, metadata: { trap_reason: null, fuel_analysis: unbounded } });
    const done = await theatre.process().run("guest", null, { id: "r" });
    const fuel_analysis = { consumed: 900, budget: null, utilization_percent: null, status: "efficient" };
    expect(done).toMatchObject({ status: "completed", execution: { fuel_analysis, error_guidance: null } });
  });

  test("is absent where the sandbox says nothing, and from runs that were kept before", async () => {
    const theatre = theatreWith({ success: true });
    expect(await theatre.process().run("guest", null, { id: "r" })).toMatchObject({ execution: null });
    const document = await theatre.store.document("run", "r");
    if (document === null) throw new Error("no run");
    const { execution: _, ...body } = document.body;
    await theatre.store.apply([{ ...putRun(readRun(document)), body }]);
    expect(await runView(theatre.store, "r")).toMatchObject({ status: "completed", execution: null });
  });
});

test("it is only ever so long, and can be written down", () => {
  const endless: Record<string, unknown> = { text: "\ud800x".repeat(10_000), many: Array(1000).fill("item"), nan: NaN };
  endless.self = endless;
  const execution = executionIn({ fuel_analysis: endless, error_guidance: "text" });
  expect(execution?.error_guidance).toBeNull();
  const text = JSON.stringify(execution);
  expect(text.length).toBeLessThan(20_000);
  expect(text).not.toContain("\\ud800");
  expect(execution?.fuel_analysis).toMatchObject({ nan: null });
});
