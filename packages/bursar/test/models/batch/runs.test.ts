import { describe, expect, test } from "vitest";
import { scenario } from "../../../../../specs/scenario.js";
import type { Json } from "../../../src/core/chain/canonical.js";
import type { Model } from "../../../src/ports/model.js";
import type { Program } from "../../../src/ports/program.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { claimOf } from "../../../src/runs/claim.js";
import { hasEnded } from "../../../src/runs/record.js";
import type { RunResult } from "../../../src/runs/result.js";
import { Worker } from "../../../src/runs/worker.js";
import { ANSWER, driven, LIMITS, OPTIONS, patient, type Said } from "./patient.js";
import { COST_NANO, HOUR_MS, ofType, quiet, Scene } from "./scene.js";

/** A model that answers at once, and remembers what it was asked. */
function quick(asked: Json[]): Model {
  return {
    quote: () => ({ llm_input_tokens: 60, llm_output_tokens: 40, cost_usd: 0.01 }),
    call: async (request) => {
      asked.push(request);
      return { value: { text: "at once" }, usage: { input_tokens: 5, output_tokens: 3, cost_usd: 0.001 } };
    },
  };
}

function pausedOf(result: RunResult): Extract<RunResult, { status: "paused" }> {
  if (result.status === "paused") return result;
  throw new Error(`it is ${JSON.stringify(result)}`);
}

describe("a run that can wait", () => {
  scenario("004/batching", "a run pauses cheaply until the answers are there, and its clock stands still", async () => {
    await using scene = await Scene.open({ batching: { takes_ms: 10 * HOUR_MS } });
    const bursar = scene.process([patient]);
    const paused = pausedOf(await scene.until(bursar.run("patient", null, OPTIONS)));
    expect(paused).toMatchObject({ approvals: [], approval_id: null, children: [], exhausted_dimension: null });
    expect(paused.batches).toEqual(["item:r/0", "item:r/1", "item:r/2"]);
    expect((await bursar.find("r")).pause).toMatchObject({ batches: paused.batches, approvals: [] });
    expect(await claimOf(scene.store, "r")).toMatchObject({ worker: null });
    scene.clock.advance(5 * HOUR_MS);
    await bursar.collect();
    expect((await bursar.find("r")).status).toBe("paused");
    scene.clock.advance(11 * HOUR_MS);
    await bursar.collect();
    expect((await bursar.find("r")).status).toBe("queued");
    scene.clock.advance(HOUR_MS);
    const again = pausedOf(await scene.until(bursar.resume("r")));
    expect(again.batches).toEqual(["item:r/3"]);
    const result = await driven(scene, bursar, "r", HOUR_MS);
    expect(result).toMatchObject({ status: "completed", result: ANSWER });
    expect(result.usage).toMatchObject({ steps: 4, llm_input_tokens: 400 });
    expect(result.usage.wall_clock_ms).toBeLessThan(10_000);
    expect(await scene.used("r")).toMatchObject({ used: { cost_usd: 4 * COST_NANO }, reserved: {} });
    const links = await scene.links("r");
    expect(ofType(links, "Batched")).toHaveLength(4);
    expect(ofType(links, "Saved")).toHaveLength(4);
    expect(ofType(links, "RunPaused")[0]).toMatchObject({ batches: paused.batches });
    expect(scene.server.batches.map(({ lines }) => lines.length)).toEqual([3, 1]);
  });

  test("goes on in any process, also one that has no desk of its own", async () => {
    await using scene = await Scene.open();
    const asked: Json[] = [];
    const [one, two] = [
      scene.process([patient]),
      scene.process([patient], { batches: undefined as never, model: quick(asked) }),
    ];
    await scene.until(one.run("patient", null, OPTIONS));
    await scene.rounds({ round: () => one.collect() }, 5);
    expect((await one.find("r")).status).toBe("queued");
    const result = await scene.until(two.resume("r"));
    expect(result).toMatchObject({ status: "completed", result: "at once" });
    // What had been handed over was not asked for again; only the last one was, at once, because nobody takes it here.
    expect(asked).toEqual([{ prompt: "one two ree", max_tokens: 50 }]);
    expect(await scene.used("r")).toMatchObject({ reserved: {} });
  });

  test("is driven by workers from beginning to end", async () => {
    await using scene = await Scene.open({ batching: { takes_ms: HOUR_MS } });
    const { clock: timer } = scene;
    await using worker = new Worker({ bursar: scene.process([patient]), timer });
    await using other = new Worker({ bursar: scene.process([patient]), timer });
    const watcher = scene.process([patient]);
    await watcher.start("patient", null, OPTIONS);
    worker.start();
    other.start();
    for (let turn = 0; turn < 2000 && !hasEnded(await watcher.find("r")); turn++) {
      await quiet();
      scene.clock.advance(turn % 10 === 9 ? 60_000 : 200);
    }
    expect(await watcher.result(await watcher.find("r"))).toMatchObject({ status: "completed", result: ANSWER });
    expect(scene.server.count).toBe(4);
  });

  test("does what else it has to do meanwhile, and is told as soon as the answer is there", async () => {
    await using scene = await Scene.open();
    const busy = defineAgent("busy", async (ctx) => {
      const order: string[] = [];
      await Promise.all([
        ctx.model<Said>({ prompt: "one" }, { wait: true }).then(({ text }) => order.push(text)),
        ctx.sleep(20_000).then(() => order.push("slept")),
      ]);
      return order;
    });
    const bursar = scene.process([busy]);
    const done = bursar.run("busy", null, OPTIONS);
    const collecting = (async () => {
      while (!(await Promise.race([done.then(() => true), quiet().then(() => false)]))) await bursar.collect();
    })();
    const result = await scene.until(done, 200);
    await collecting;
    expect(result).toMatchObject({ status: "completed", result: ["You said: one", "slept"] });
  });

  test("as a guest hands its request over, with wait among the rest of it", async () => {
    await using scene = await Scene.open();
    const guest: Program = {
      kind: "guest-like",
      name: "guest",
      digest: "1",
      source: null,
      play: (stage) => ({ result: stage.ask("llm", { prompt: "one", wait: true }).answer }),
    };
    const bursar = scene.process([guest]);
    await scene.until(bursar.start("guest", null, OPTIONS));
    expect(await driven(scene, bursar, "r")).toMatchObject({ status: "completed", result: { text: "You said: one" } });
  });

  test("is made at once where nobody takes such calls, and the model sees nothing of it", async () => {
    await using scene = await Scene.open();
    const asked: Json[] = [];
    const bursar = scene.process([patient], { batches: undefined as never, model: quick(asked) });
    expect(await scene.until(bursar.run("patient", null, OPTIONS))).toMatchObject({ result: "at once" });
    expect(asked).toHaveLength(4);
    expect(JSON.stringify(asked)).not.toContain("wait");
    expect(scene.server.batches).toEqual([]);
  });

  test("is told what failed, and goes on", async () => {
    await using scene = await Scene.open({
      batching: { fate: ({ text }) => (text === "late" ? "expired" : "answer") },
    });
    const careful = defineAgent("careful", async (ctx) => {
      const codes: string[] = [];
      for (const prompt of ["bad", "late", "fine"]) {
        await ctx.model({ prompt }, { wait: true }).then(
          () => codes.push("ok"),
          ({ code }: { code: string }) => codes.push(code),
        );
      }
      return codes;
    });
    const bursar = scene.process([careful]);
    await bursar.start("careful", null, OPTIONS);
    expect(await driven(scene, bursar, "r")).toMatchObject({
      status: "completed",
      result: ["provider_refused", "batch_expired", "ok"],
    });
    expect(await scene.used("r")).toMatchObject({ used: { cost_usd: COST_NANO }, reserved: {} });
  });

  test("pauses for approval where a call does not fit, and for the others at the same time", async () => {
    await using scene = await Scene.open();
    const one = await scene.desk().terms({ prompt: "one", max_tokens: 50 });
    const most = 2.5 * (one.asked.cost_usd ?? 0);
    const bursar = scene.process([patient]);
    const limits = { ...LIMITS, cost_usd: most };
    const policies = { cost_usd: "approval_required" } as const;
    const paused = pausedOf(await scene.until(bursar.run("patient", null, { ...OPTIONS, limits, policies })));
    expect(paused.batches).toHaveLength(2);
    for (let round = 0; round < 40; round++) {
      scene.clock.advance(1000);
      await scene.until(bursar.collect());
      const run = await scene.until(bursar.drive("r"));
      if (hasEnded(run)) break;
      for await (const { id } of bursar.approvals()) {
        await scene.until(bursar.approve(id, { by: { name: "ann", role: "operator" }, extensions: { cost_usd: 1 } }));
      }
    }
    expect(await bursar.result(await bursar.find("r"))).toMatchObject({ status: "completed", result: ANSWER });
    expect(await scene.used("r")).toMatchObject({ used: { cost_usd: 4 * COST_NANO }, reserved: {} });
  });

  test("a parent waits for a child that waits", async () => {
    await using scene = await Scene.open();
    const parent = defineAgent("parent", async (ctx) => ctx.spawn("patient", null, { fraction: 0.5 }));
    const bursar = scene.process([patient, parent]);
    const paused = pausedOf(await scene.until(bursar.run("parent", null, OPTIONS)));
    expect(paused).toMatchObject({ children: ["r.0"], batches: [] });
    expect((await bursar.find("r.0")).pause?.batches).toHaveLength(3);
    expect(await driven(scene, bursar, "r")).toMatchObject({ status: "completed", result: ANSWER });
    expect(await scene.used("r")).toMatchObject({ used: { cost_usd: 4 * COST_NANO }, reserved: {} });
  });
});

describe("a run that is cancelled while it waits", () => {
  test("gets back what was not sent", async () => {
    await using scene = await Scene.open();
    const bursar = scene.process([patient]);
    await scene.until(bursar.run("patient", null, OPTIONS));
    expect(await scene.until(bursar.cancel("r"))).toMatchObject({ status: "cancelled" });
    await scene.rounds({ round: () => bursar.collect() }, 5);
    expect(scene.server.batches).toEqual([]);
    expect(await scene.used("r")).toMatchObject({ reserved: {} });
    expect((await scene.used("r")).used).not.toHaveProperty("cost_usd");
  });

  test("pays for what was sent, as the provider says in the end", async () => {
    await using scene = await Scene.open({ batching: { takes_ms: HOUR_MS, fate: () => "answer" } });
    const other = defineAgent("other", async (ctx) => ctx.model({ prompt: "other", max_tokens: 50 }, { wait: true }));
    const bursar = scene.process([patient, other]);
    await scene.until(bursar.run("patient", null, OPTIONS));
    await scene.until(bursar.run("other", null, { ...OPTIONS, id: "o" }));
    await scene.rounds({ round: () => bursar.collect() }, 5);
    expect(scene.server.batches).toHaveLength(1);
    await scene.until(bursar.cancel("r"));
    const held = await scene.used("r");
    expect(held.reserved).toEqual({});
    expect((held.used as Record<string, number>).cost_usd).toBeGreaterThan(3 * COST_NANO);
    expect((await scene.store.budget("r"))?.ended).toBe(true);
    await scene.rounds({ round: () => bursar.collect() }, 10, HOUR_MS);
    // The other run still wanted its answer, so that the batch was not cancelled.
    expect(await driven(scene, bursar, "o")).toMatchObject({ status: "completed" });
    expect(await scene.used("r")).toMatchObject({ used: { cost_usd: 3 * COST_NANO, steps: 3 }, reserved: {} });
    await scene.links("r");
  });
});

test("a run that ends without waiting gives up what it had handed over", async () => {
  await using scene = await Scene.open();
  const hasty = defineAgent("hasty", async (ctx) => {
    void ctx.model({ prompt: "one" }, { wait: true }).catch(() => {});
    await ctx.sleep(2000);
    return "done";
  });
  const bursar = scene.process([hasty]);
  expect(await scene.until(bursar.run("hasty", null, OPTIONS))).toMatchObject({ status: "completed", result: "done" });
  expect(await scene.used("r")).toMatchObject({ reserved: {} });
  await scene.rounds({ round: () => bursar.collect() }, 5);
  expect(scene.server.batches).toEqual([]);
});
