import { type BudgetLimits, defineAgent, execHandler, MemoryStore, openBursar, type StartOptions } from "bursar";
import { describe, expect, test } from "vitest";
import { ANN, openTestSandbox } from "./sandbox.js";

const sandbox = await openTestSandbox();

interface Said {
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** An agent that has all of these executed, one after the other or at once. */
function world(codes: readonly string[], { atOnce = false } = {}) {
  const coder = defineAgent("coder", async (ctx) => {
    const said: Said[] = [];
    const execute = async (code: string) => void said.push(await ctx.exec<Said>("python", code));
    if (atOnce) await Promise.all(codes.map(execute));
    else for (const code of codes) await execute(code);
    return said.map(({ success, stdout, stderr }) => `${success} ${stdout.trim()}${stderr.trim().split("\n").at(-1)}`);
  });
  const store = new MemoryStore();
  const bursar = openBursar({ store, programs: [coder], handlers: { exec: execHandler(async () => sandbox) } });
  const run = (limits: BudgetLimits, options: Partial<StartOptions> = {}) =>
    bursar.run("coder", {}, { id: "r", limits: { wall_clock_ms: null, ...limits }, ...options });
  const suggested = async () => {
    for await (const { suggested_extension } of bursar.approvals()) return suggested_extension;
    return null;
  };
  return { store, bursar, run, suggested };
}

const write = (bytes: number) => `print(open("/app/file", "wb", buffering=0).write(b"x" * ${bytes}))`;

describe("what code writes for an agent", () => {
  test("is charged", async () => {
    const done = await world([write(600), write(300)]).run({ storage_write_bytes: 1000 });
    expect(done).toMatchObject({ status: "completed", result: ["true 600", "true 300"] });
    expect(done.usage.storage_write_bytes).toBe(900);
  });

  test("is never more than the budget has left", async () => {
    const done = await world([write(600), write(1_000_000), write(500)]).run({ storage_write_bytes: 1000 });
    expect(Number(done.usage.storage_write_bytes)).toBeLessThanOrEqual(1000);
  });

  test("is never more than the budget has left when several are executed at once", async () => {
    const codes = Array.from({ length: 4 }, () => write(600));
    const done = await world(codes, { atOnce: true }).run({ storage_write_bytes: 1000 });
    expect(done.usage.storage_write_bytes).toBe(600);
  });

  test("pauses the run where it does not fit and the policy is to ask", async () => {
    const { bursar, run } = world([write(600), write(5000)]);
    const paused = await run({ storage_write_bytes: 1000 }, { policies: { storage_write_bytes: "approval_required" } });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "storage_write_bytes" });
    const done = await bursar.approve("r/checkpoint", { by: ANN, extensions: { storage_write_bytes: 4600 } });
    expect(done).toMatchObject({ status: "completed", result: ["true 600", "true 5000"] });
    expect(done.usage.storage_write_bytes).toBe(5600);
  });

  test("fits after one yes, as suggested, which goes by what it wanted to write and not by what it may", async () => {
    const { bursar, run, suggested } = world([write(600), write(5000)]);
    await run({ storage_write_bytes: 1000 }, { policies: { storage_write_bytes: "approval_required" } });
    expect(await suggested()).toEqual({ storage_write_bytes: 5100 });
    const done = await bursar.approve("r/checkpoint", { by: ANN });
    expect(done).toMatchObject({ status: "completed", result: ["true 600", "true 5000"] });
  });

  test("keeps no others from being executed at the same time, with the limits that every run has", async () => {
    const { store, run } = world(["print(1)", "print(2)", "print(3)"], { atOnce: true });
    expect(await run({})).toMatchObject({ status: "completed" });
    const told: string[] = [];
    for await (const line of store.chain("r")) {
      const { action_type, event } = JSON.parse(line) as { action_type: string; event?: string };
      if (action_type === "StepStarted" || event === "Consumption") told.push(event ?? action_type);
    }
    expect(told.slice(0, 3)).toEqual(["StepStarted", "StepStarted", "StepStarted"]);
  });

  test("may be nothing", async () => {
    const done = await world(["print(1)"]).run({ storage_write_bytes: 0 });
    expect(done).toMatchObject({ status: "completed", result: ["true 1"] });
  });
});

describe("the memory of code that is executed for an agent", () => {
  const grow = "print(len(bytearray(60_000_000)))";

  const limit = 50_000_000;

  test("stays within its limit, and ends the run where the policy is to stop", async () => {
    const stopped = await world([grow]).run({ memory_peak_bytes: limit });
    expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "memory_peak_bytes" } });
    expect(Number(stopped.usage.memory_peak_bytes)).toBeGreaterThan(0);
    expect(Number(stopped.usage.memory_peak_bytes)).toBeLessThanOrEqual(limit);
    expect(await world([grow, "print(1)"]).run({ memory_peak_bytes: 2 * limit })).toMatchObject({
      result: ["true 60000000", "true 1"],
    });
  });

  test("pauses the run where the policy is to ask, and the code is executed again after one yes", async () => {
    const larger = "print(len(bytearray(90_000_000)))";
    const { bursar, run } = world(["print(1)", larger]);
    const paused = await run({ memory_peak_bytes: limit }, { policies: { memory_peak_bytes: "approval_required" } });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "memory_peak_bytes" });
    const done = await bursar.approve("r/checkpoint", { by: ANN });
    expect(done).toMatchObject({ status: "completed", result: ["true 1", "true 90000000"] });
  });

  test("is all that an execution may have where the policy is to warn", async () => {
    const done = await world([grow]).run(
      { memory_peak_bytes: limit },
      { policies: { memory_peak_bytes: "soft_warn" } },
    );
    expect(done).toMatchObject({ status: "completed", result: ["true 60000000"] });
  });

  test("is the code's own trouble where no budget kept it small", async () => {
    const done = await world(["print(len(bytearray(300_000_000)))"]).run({ memory_peak_bytes: 1_000_000_000 });
    expect(done).toMatchObject({ status: "completed", result: ["false MemoryError"] });
  });

  test("stays within its limit in an engine that counts only what is in use", async () => {
    // Every second block is given up, and the next ones fit into no hole.
    const holes = `
      const kept = [];
      for (let size = 300_000; size < 900_000; size += 100_000) {
        const blocks = [];
        for (let total = 0; total < 14_000_000; total += size) blocks.push(new Uint8Array(size));
        kept.splice(0, kept.length, ...blocks.filter((_, at) => at % 2 === 0), ...kept.filter((_, at) => at % 2 === 0));
      }`;
    const coder = defineAgent("coder", async (ctx) => (await ctx.exec<Said>("javascript", holes)).success);
    const handlers = { exec: execHandler(async () => sandbox) };
    const most = 34_000_000;
    const run = (limits: BudgetLimits) =>
      openBursar({ store: new MemoryStore(), programs: [coder], handlers }).run("coder", {}, { limits });
    expect(Number((await run({})).usage.memory_peak_bytes)).toBeGreaterThan(most);
    expect(Number((await run({ memory_peak_bytes: most })).usage.memory_peak_bytes)).toBeLessThanOrEqual(most);
  });

  test("is not taken at all where the limit is below what a sandbox takes", async () => {
    const stopped = await world([grow]).run({ memory_peak_bytes: 10_000_000 });
    expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "memory_peak_bytes" } });
    expect(stopped.usage.memory_peak_bytes ?? 0).toBe(0);
  });
});

describe("the fuel of code that is executed for an agent", () => {
  const endless = "while True: pass";
  const long = "print(sum(1 for _ in range(100_000)))";

  test("is what is left, where that is less than an execution may burn", async () => {
    const done = await world(["print(1)", "print(2)"]).run({ fuel: 2_000_000 });
    expect(done).toMatchObject({ status: "completed", result: ["true 1", "true 2"] });
  });

  test("is what it asks for, where that is less than what is left", async () => {
    const coder = defineAgent("coder", async (ctx) => {
      const { metadata } = await ctx.exec<{ metadata: { trap_reason: string } }>("python", endless, {
        fuel: 1_000_000,
      });
      return metadata.trap_reason;
    });
    const handlers = { exec: execHandler(async () => sandbox) };
    const bursar = openBursar({ store: new MemoryStore(), programs: [coder], handlers });
    const done = await bursar.run("coder", {}, { limits: { fuel: 5_000_000 } });
    expect(done).toMatchObject({ status: "completed", result: "out_of_fuel", usage: { fuel: 1_000_000 } });
  });

  test("ends the run when all of it is burnt, and not a unit more", async () => {
    const stopped = await world(["print(1)", endless]).run({ fuel: 5_000_000 });
    expect(stopped).toMatchObject({ status: "failed", failure: { dimension: "fuel" }, usage: { fuel: 5_000_000 } });
  });

  test("pauses the run where its policy is to ask, and the code is executed again with more", async () => {
    const { bursar, run, suggested } = world(["print(1)", long]);
    const paused = await run({ fuel: 2_000_000 }, { policies: { fuel: "approval_required" } });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "fuel", usage: { fuel: 2_000_000 } });
    // How much it would burn nobody knows: as much again as it has burnt, and half of the limit.
    const { fuel } = (await suggested()) ?? {};
    expect([Number(fuel) > 1_000_000, Number(fuel) < 3_200_000]).toEqual([true, true]);
    const done = await bursar.approve("r/checkpoint", { by: ANN, extensions: { fuel: 1_000_000_000 } });
    expect(done).toMatchObject({ status: "completed", result: ["true 1", "true 100000"] });
  });

  test("is all it wants where its policy is to warn", async () => {
    const done = await world([long]).run({ fuel: 1_000_000 }, { policies: { fuel: "soft_warn" } });
    expect(done).toMatchObject({ status: "completed", result: ["true 100000"] });
  });
});

test("code that could not be executed is charged nothing", async () => {
  const coder = defineAgent("coder", async (ctx) => {
    await ctx.exec("python", "print(1)", { packages: ["nowhere"] }).catch(() => {});
  });
  const handlers = { exec: execHandler(async () => sandbox) };
  const done = await openBursar({ store: new MemoryStore(), programs: [coder], handlers }).run("coder", {});
  expect(done).toMatchObject({ status: "completed" });
  expect([done.usage.fuel ?? 0, done.usage.storage_write_bytes ?? 0]).toEqual([0, 0]);
});
