import { describe, expect, it } from "vitest";
import { readHistory } from "../../src/foresight/history.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, listOf, pausedOf, settle, Theatre } from "../runs/stage.js";

const speaker = defineAgent("speaker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.tool("echo", { text: `word ${turn}` });
  return times;
});

const parent = defineAgent("parent", async (ctx, budget: "share" | { fraction: number }) => {
  await ctx.tool("echo", { text: "first" });
  return ctx.spawn("speaker", { times: 2 }, budget);
});

async function pastOf(theatre: Theatre, run: string) {
  const document = await theatre.store.document("history", run);
  return document === null ? null : readHistory(document);
}

describe("what is kept of a run that has ended", () => {
  it("is what it took, with the size of its input and the version of its program", async () => {
    const slowly = defineAgent("speaker", async (ctx, { times }: { times: number }) => {
      for (let turn = 0; turn < times; turn++) await ctx.tool("echo", { text: `word ${turn}` });
      await ctx.sleep(5000);
    });
    const theatre = new Theatre([slowly]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run("speaker", { times: 3 }, { id: "a" }));
    const past = await pastOf(theatre, "a");
    expect(past).toMatchObject({ run: "a", program: "speaker", input_bytes: '{"times":3}'.length, cut: false });
    expect(past).toMatchObject({ used: { steps: 3 }, digest: speaker.digest, estimate: null });
    const budget = await theatre.store.budget("a");
    expect(budget?.watch.elapsed).toBeGreaterThanOrEqual(5000);
    expect(past?.used.wall_clock_ms).toBe(budget?.watch.elapsed);
  });

  it("holds what its children took, and each child with a budget of its own is kept too", async () => {
    const theatre = new Theatre([parent, speaker]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run("parent", { fraction: 0.5 }, { id: "a" }));
    expect((await pastOf(theatre, "a"))?.used.steps).toBe((await theatre.store.budget("a"))?.used.steps);
    expect((await pastOf(theatre, "a.1"))?.used).toMatchObject({ steps: 2 });
  });

  it("is not kept of a run that shares its parent's budget", async () => {
    const theatre = new Theatre([parent, speaker]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run("parent", "share", { id: "a" }));
    expect(await pastOf(theatre, "a")).not.toBeNull();
    expect(await pastOf(theatre, "a.1")).toBeNull();
  });

  it("says that a limit has cut it off", async () => {
    const theatre = new Theatre([speaker]);
    await using bursar = theatre.process();
    const result = await theatre.until(bursar.run("speaker", { times: 9 }, { id: "a", limits: { steps: 2 } }));
    expect(result.status).toBe("failed");
    expect(await pastOf(theatre, "a")).toMatchObject({ used: { steps: 2 }, cut: true });
  });

  it("says that a limit of a child has cut it off", async () => {
    const spawner = defineAgent("spawner", (ctx) => ctx.spawn("speaker", { times: 9 }, { limits: { steps: 2 } }));
    const theatre = new Theatre([spawner, speaker]);
    await using bursar = theatre.process();
    const result = await theatre.until(bursar.run("spawner", null, { id: "a" }));
    expect(result).toMatchObject({ status: "failed", failure: { code: "child_exhausted" } });
    expect(await pastOf(theatre, "a")).toMatchObject({ cut: true });
  });

  it("says so of a program that has fallen over on the way; before it did anything there is nothing to keep", async () => {
    const clumsy = defineAgent("clumsy", async (ctx, { times }: { times: number }) => {
      for (let turn = 0; turn < times; turn++) await ctx.tool("echo", { text: "then" });
      throw new Error("it fell over");
    });
    const theatre = new Theatre([clumsy]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run("clumsy", { times: 1 }, { id: "a" }));
    expect(await pastOf(theatre, "a")).toMatchObject({ used: { steps: 1 }, cut: true });
    await theatre.until(bursar.run("clumsy", { times: 0 }, { id: "b" }));
    expect(await pastOf(theatre, "b")).toBeNull();
  });

  it("lets runs that fell over at once say nothing of those that will not", async () => {
    const moody = defineAgent("moody", async (ctx, { falls }: { falls: number }) => {
      for (let turn = 0; turn < 8; turn++) {
        if (falls === turn) throw new Error("it fell over");
        await ctx.tool("echo", { text: "then" });
      }
    });
    const theatre = new Theatre([moody]);
    await using bursar = theatre.process();
    for (let run = 0; run < 12; run++) await theatre.until(bursar.run("moody", { falls: run % 2 }));
    const { dimensions } = await bursar.estimate("moody", { falls: 9 });
    expect(dimensions.find(({ dimension }) => dimension === "steps")).toMatchObject({ source: "history", median: 2 });
    for (let run = 0; run < 3; run++) await theatre.until(bursar.run("moody", { falls: 9 }));
    const later = (await bursar.estimate("moody", { falls: 9 })).estimate;
    expect(later?.dimensions.steps).toMatchObject({ median: 8 });
    expect(later?.opinions[0]).toMatchObject({ samples: 3, about: expect.stringContaining("6 ended early") });
  });

  it("says that it was cancelled, or denied, on the way; before it did anything there is nothing to keep", async () => {
    const theatre = new Theatre([speaker]);
    await using bursar = theatre.process();
    const asks = { limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;
    await theatre.until(bursar.run("speaker", { times: 9 }, { id: "cancelled", ...asks }));
    await theatre.until(bursar.cancel("cancelled"));
    const denied = pausedOf(await theatre.until(bursar.run("speaker", { times: 9 }, { id: "denied", ...asks })));
    await theatre.until(bursar.deny(denied.checkpoint_id, { by: ANN }));
    await bursar.start("speaker", { times: 9 }, { id: "early" });
    expect((await theatre.until(bursar.cancel("early"))).status).toBe("cancelled");
    expect(await pastOf(theatre, "cancelled")).toMatchObject({ used: { steps: 2 }, cut: true });
    expect(await pastOf(theatre, "denied")).toMatchObject({ used: { steps: 2 }, cut: true });
    expect(await pastOf(theatre, "early")).toBeNull();
  });

  it("holds the final answer, which used what was set aside for it", async () => {
    const wrapping = defineAgent("wrapping", async (ctx) => {
      await ctx.tool("echo", { text: "one" });
      await ctx.tool("echo", { text: "two" }).catch(() => {});
      return ctx.final.tool("echo", { text: "last" });
    });
    const theatre = new Theatre([wrapping]);
    await using bursar = theatre.process();
    await theatre.until(bursar.run("wrapping", null, { id: "a", limits: { steps: 2 }, wrap_up: { steps: 1 } }));
    expect(await pastOf(theatre, "a")).toMatchObject({ used: { steps: 2 }, cut: true });
  });

  it("is written by whoever ends a run that another worker has begun, once", async () => {
    const latch = new Latch();
    const slow = defineTool({ name: "slow", description: "Waits.", input: {}, run: () => latch.opened });
    const waiting = defineAgent("waiting", async (ctx) => {
      await ctx.tool("echo", { text: "then" });
      await ctx.tool("slow");
    });
    const theatre = new Theatre([waiting], [slow]);
    const first = theatre.process();
    await first.start("waiting", null, { id: "a" });
    const driven = first.drive("a").catch(() => {});
    await settle();
    await first[Symbol.asyncDispose]();
    await theatre.until(driven);
    await using second = theatre.process();
    latch.open();
    expect((await theatre.until(second.drive("a"))).status).toBe("completed");
    expect(await pastOf(theatre, "a")).toMatchObject({ cut: false });
    expect(await listOf(theatre.store.documents("history"))).toHaveLength(1);
  });

  it("takes the place of what stands under the name of the run already", async () => {
    const theatre = new Theatre([speaker]);
    await using bursar = theatre.process();
    const left = { kind: "history", id: "a", budget: null, status: "program speaker", body: {}, version: 0 } as const;
    await theatre.store.apply([{ op: "put", ...left }]);
    expect((await theatre.until(bursar.run("speaker", { times: 1 }, { id: "a" }))).status).toBe("completed");
    expect(await pastOf(theatre, "a")).toMatchObject({ used: { steps: 1 } });
  });

  it("is nothing when foresight is switched off", async () => {
    const theatre = new Theatre([speaker]);
    await using bursar = theatre.process({ foresight: false });
    await theatre.until(bursar.run("speaker", { times: 1 }, { id: "a" }));
    expect(await listOf(theatre.store.documents("history"))).toEqual([]);
  });
});
