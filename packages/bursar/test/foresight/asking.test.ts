import { describe, expect, it } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { readApproval } from "../../src/runs/approval.js";
import { ANN, listOf, mortal, pausedOf, settle, Theatre } from "../runs/stage.js";
import { keptWebhook } from "./hook.js";
import { Past } from "./past.js";

const HOUR_MS = 3_600_000;

const speaker = defineAgent("speaker", async (ctx, { times }: { times: number }) => {
  for (let turn = 0; turn < times; turn++) await ctx.tool("echo", { text: `word ${turn}` });
  return times;
});

async function practised(): Promise<Theatre> {
  const theatre = new Theatre([speaker]);
  const taken = Array.from({ length: 12 }, () => ({ bytes: 12, used: { steps: 10, cost_usd: 600_000_000 } }));
  await new Past(theatre.store).add(speaker, ...taken);
  return theatre;
}

const TIGHT = { id: "a", limits: { steps: 4, cost_usd: 0.5 }, preflight: "ask" } as const;

describe("a run that is asked about before it begins", () => {
  it("stands still with a request that shows the prediction and suggests what would make it fit", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const paused = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    expect(paused).toMatchObject({ run_id: "a", checkpoint_id: "a/checkpoint.0", exhausted_dimension: null });
    const [request] = await listOf(bursar.approvals());
    expect(request).toMatchObject({
      id: paused.approval_id,
      kind: "budget_extension",
      run: "a",
      budget: "a",
      about: "preflight",
      suggested_extension: { steps: 6, cost_usd: 0.1 },
      limits: { steps: 4, cost_usd: 0.5 },
      action: {
        name: "preflight",
        program: "speaker",
        fits: false,
        dimensions: { steps: { median: 10, upper: 10, limit: 4, missing: 6, source: "history" } },
      },
    });
    expect(await theatre.events("a")).toEqual([
      "Allocation",
      "RunStarted",
      "RunEstimated",
      "RunPaused",
      "ApprovalRequested",
      "ClockPaused",
    ]);
    expect(theatre.said).toEqual([]);
    theatre.clock.advance(HOUR_MS);
    expect((await theatre.store.budget("a"))?.watch).toEqual({ elapsed: 0, since: null });
  });

  it("is approved with what was suggested, and then comes to its end", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const { checkpoint_id } = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    expect(await theatre.until(bursar.approve(checkpoint_id, { by: ANN }))).toMatchObject({ status: "completed" });
    expect((await theatre.store.budget("a"))?.extended).toEqual({ steps: 6, cost_usd: 100_000_000 });
    expect(theatre.said).toHaveLength(10);
  });

  it("is approved without any extension, and then its limits hold as they are", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const { approval_id } = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    const result = await theatre.until(bursar.approve(approval_id as string, { by: ANN, extensions: {} }));
    expect(result).toMatchObject({ status: "failed", failure: { dimension: "steps" } });
    expect(theatre.said).toHaveLength(4);
  });

  it("is denied, and then is over with nothing done", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const { approval_id } = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    const result = await theatre.until(bursar.deny(approval_id as string, { by: ANN, reason: "too dear" }));
    expect(result).toMatchObject({ status: "cancelled", reason: "too dear" });
    expect(theatre.said).toEqual([]);
    const denied = (await theatre.links("a")).find(({ event }) => event === "Denied");
    expect(denied?.data).toMatchObject({ dimension: "steps", denied_by: "ann", reason: "too dear" });
    expect(await theatre.store.document("history", "a")).toBeNull();
  });

  it("suggests no more than is of use below its session, and begins with that", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    await bursar.openSession("s", { steps: 7 });
    const { approval_id } = pausedOf(
      await theatre.until(bursar.run("speaker", { times: 7 }, { ...TIGHT, session: "s" })),
    );
    const [request] = await listOf(bursar.approvals());
    expect(request?.suggested_extension).toEqual({ steps: 3, cost_usd: 0.1 });
    expect(request?.action).toMatchObject({ dimensions: { steps: { upper: 10, limit: 4, missing: 6 } } });
    const answered = await theatre.until(bursar.approve(approval_id as string, { by: ANN }));
    expect(answered).toMatchObject({ status: "completed", result: 7 });
  });

  it("suggests nothing that its session does not leave, and can be approved all the same", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    await bursar.openSession("s", { steps: 3, cost_usd: 0.1 });
    const { approval_id } = pausedOf(
      await theatre.until(bursar.run("speaker", { times: 2 }, { ...TIGHT, session: "s" })),
    );
    expect((await listOf(bursar.approvals()))[0]?.suggested_extension).toEqual({});
    expect((await theatre.until(bursar.approve(approval_id as string, { by: ANN }))).status).toBe("completed");
  });

  it("does not begin by being resumed, nor by an answer to another request", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const { approval_id } = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    expect(pausedOf(await theatre.until(bursar.resume("a"))).approval_id).toBe(approval_id);
    const other = await bursar.request("a", "capability_execution", { name: "something else" });
    await bursar.decide(other.id, "approve", { by: ANN });
    expect(pausedOf(await theatre.until(bursar.result(await bursar.drive("a")))).approval_id).toBe(approval_id);
    expect(theatre.said).toEqual([]);
    expect((await theatre.until(bursar.approve(approval_id as string, { by: ANN }))).status).toBe("completed");
  });

  it("is asked about anew when nobody has answered in time", async () => {
    const theatre = await practised();
    await using bursar = theatre.process({ approval_ms: HOUR_MS });
    const { approval_id } = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    theatre.clock.advance(HOUR_MS);
    await expect(bursar.approve(approval_id as string, { by: ANN })).rejects.toMatchObject({ code: "expired" });
    const again = pausedOf(await theatre.until(bursar.resume("a")));
    expect(again.approval_id).not.toBe(approval_id);
    expect(again.approvals).toHaveLength(1);
    expect((await theatre.store.document("approval", approval_id as string))?.status).toBe("expired");
    expect((await theatre.until(bursar.approve("a/checkpoint", { by: ANN }))).status).toBe("completed");
  });

  it("is cancelled without an answer, and takes its request back", async () => {
    const theatre = await practised();
    await using bursar = theatre.process();
    const { approval_id } = pausedOf(await theatre.until(bursar.run("speaker", { times: 10 }, TIGHT)));
    expect((await theatre.until(bursar.cancel("a"))).status).toBe("cancelled");
    const document = await theatre.store.document("approval", approval_id as string);
    expect(document === null ? null : readApproval(document).status).toBe("withdrawn");
  });

  it("is answered once, by whichever process, and outlives the one that asked", async () => {
    const theatre = await practised();
    const { seen, kill } = mortal(theatre.store);
    const first = theatre.process({ store: seen });
    const { approval_id } = pausedOf(await theatre.until(first.run("speaker", { times: 10 }, TIGHT)));
    kill();
    await using second = theatre.process();
    const answers = await theatre.until(
      Promise.allSettled([
        second.approve(approval_id as string, { by: ANN }),
        second.deny(approval_id as string, { by: ANN }),
      ]),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("is told about, once", async () => {
    const theatre = await practised();
    const { webhook, sent } = keptWebhook();
    const changed: string[] = [];
    await using bursar = theatre.process({ webhook, changed: ({ status }) => changed.push(status) });
    await bursar.start("speaker", { times: 10 }, TIGHT);
    await bursar.start("speaker", { times: 10 }, TIGHT);
    await settle();
    expect(sent).toEqual(["approval.requested"]);
    expect(changed).toEqual(["paused"]);
  });
});
