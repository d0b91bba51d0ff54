import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { findNamed } from "../../src/runs/decisions.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { ANN, pausedOf, Theatre } from "./stage.js";

const speaker = defineAgent("speaker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

const ASKING = { limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
const WORDS = { words: ["a", "b", "c"] };

/** A run that has asked twice: the first question is answered, the second open. */
async function askingAgain() {
  const theatre = new Theatre([speaker]);
  const bursar = theatre.process();
  const first = pausedOf(await theatre.until(bursar.run("speaker", WORDS, { id: "r", ...ASKING })));
  const answered = bursar.approve(first.checkpoint_id, { by: ANN, extensions: { steps: 1 } });
  const second = pausedOf(await theatre.until(answered));
  return { theatre, bursar, first, second };
}

test("an answer that names a checkpoint where the run does not stand any more decides nothing", async () => {
  const { theatre, bursar, first, second } = await askingAgain();
  expect(first.checkpoint_id).not.toBe(second.checkpoint_id);
  const before = [await theatre.store.head("r"), await bursar.find("r")];
  for (const answer of ["approve", "deny"] as const) {
    await expect(bursar.decide(first.checkpoint_id, answer, { by: ANN })).rejects.toMatchObject({
      code: "not_open",
      message: `run r stands at ${second.checkpoint_id}, and not at ${first.checkpoint_id} any more; nothing was decided`,
    });
    await expect(bursar.decide(first.approval_id ?? "", answer, { by: ANN })).rejects.toMatchObject({
      code: "decided",
    });
  }
  expect([await theatre.store.head("r"), await bursar.find("r")]).toEqual(before);
  const over = await theatre.until(bursar.approve(second.checkpoint_id, { by: ANN, extensions: { steps: 5 } }));
  expect(over.status).toBe("completed");
  await expect(bursar.decide(second.checkpoint_id, "deny", { by: ANN })).rejects.toMatchObject({
    code: "not_open",
    message: `run r is completed, and not at ${second.checkpoint_id} any more; nothing was decided`,
  });
});

test("from afar a checkpoint without its number does not say what is meant", async () => {
  const { theatre, second } = await askingAgain();
  await expect(findNamed(theatre.store, "r/checkpoint")).rejects.toMatchObject({ code: "not_open" });
  expect((await findNamed(theatre.store, second.checkpoint_id)).id).toBe(second.approval_id);
  expect((await findNamed(theatre.store, second.approval_id ?? "")).id).toBe(second.approval_id);
  await expect(findNamed(theatre.store, "nobody/checkpoint.1")).rejects.toMatchObject({ code: "no_such_approval" });
});

test("what a run asked before checkpoints had numbers can still be answered by the one it bears", async () => {
  const { theatre, bursar, second } = await askingAgain();
  const run = await theatre.store.document("run", "r");
  const request = await theatre.store.document("approval", second.approval_id ?? "");
  if (run === null || request === null) throw new Error("they are there");
  const pause = { ...(run.body.pause as object), checkpoint_id: "r/checkpoint" };
  await theatre.store.apply([
    { ...run, op: "put", body: { ...run.body, pause } },
    { ...request, op: "put", body: { ...request.body, checkpoint_id: "r/checkpoint" } },
  ]);
  expect((await findNamed(theatre.store, "r/checkpoint")).id).toBe(second.approval_id);
  const over = await theatre.until(bursar.approve("r/checkpoint", { by: ANN, extensions: { steps: 5 } }));
  expect(over.status).toBe("completed");
});

const both = defineAgent("both", async (ctx) => {
  const done = await Promise.all([ctx.tool("write", { text: "a" }), ctx.tool("send", { text: "b" })]);
  return done.length;
});

/** A run that waits for two answers at one stop. */
async function askingTwice() {
  const tools = [quoted("write", "storage_write_bytes"), quoted("send", "network_egress_bytes")];
  const theatre = new Theatre([both], tools);
  const bursar = theatre.process();
  const limits = { storage_write_bytes: 5, network_egress_bytes: 5 };
  const policies = { storage_write_bytes: "approval_required", network_egress_bytes: "approval_required" } as const;
  const { checkpoint_id: stop } = pausedOf(
    await theatre.until(bursar.run("both", null, { id: "r", limits, policies })),
  );
  const waiting = await bursar.resultWithRequests(await bursar.find("r"));
  return { theatre, bursar, stop, requests: waiting.requests };
}

function quoted(name: string, dimension: string): Tool {
  const input = { type: "object" } as const;
  return defineTool({ name, description: "Uses it.", input, quote: { [dimension]: 10 }, run: () => name });
}

test("where two requests wait at one checkpoint, an answer that names it decides neither", async () => {
  const { theatre, bursar, stop, requests } = await askingTwice();
  const [first, second] = requests;
  if (first === undefined || second === undefined) throw new Error("there are two");
  const before = [await theatre.store.head("r"), await bursar.find("r")];
  const refused = {
    code: "ambiguous",
    name: "ApprovalError",
    message:
      `2 requests wait at ${stop}; name the one that is meant: ${first.id} (${first.exhausted_dimension}), ` +
      `${second.id} (${second.exhausted_dimension}); nothing was decided`,
  };
  for (const answer of ["approve", "deny"] as const) {
    await expect(bursar.decide(stop, answer, { by: ANN })).rejects.toMatchObject(refused);
  }
  await expect(bursar.approve(stop, { by: ANN })).rejects.toMatchObject(refused);
  await expect(bursar.resumeFromCheckpoint(stop, { network_egress_bytes: 5 })).rejects.toMatchObject(refused);
  await expect(findNamed(theatre.store, stop)).rejects.toMatchObject(refused);
  expect([await theatre.store.head("r"), await bursar.find("r")]).toEqual(before);

  const next = pausedOf(await theatre.until(bursar.approve(second.id, { by: ANN })));
  expect(next.approval_id).toBe(first.id);
  const over = await theatre.until(bursar.approve(next.checkpoint_id, { by: ANN }));
  expect(over).toMatchObject({ status: "completed", result: 2 });
});

test("of two requests at one checkpoint, the one that has not expired is meant", async () => {
  const { theatre, stop, requests } = await askingTwice();
  const [first, second] = requests;
  const document = await theatre.store.document("approval", first?.id ?? "");
  if (document === null) throw new Error("it is there");
  await theatre.store.apply([{ ...document, op: "put", body: { ...document.body, expires: 0 } }]);
  expect((await findNamed(theatre.store, stop)).id).toBe(second?.id);
});
