import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, listOf, pausedOf, settle, Theatre } from "./stage.js";

const LIMITED = { limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;

const speaker = defineAgent("speaker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

/** Tells what became of its child. */
const chief = defineAgent("chief", async (ctx) =>
  ctx
    .spawn("speaker", { words: ["a", "b"] }, LIMITED)
    .catch(({ code, data }: RunError) => ({ code, status: data.status ?? null })),
);

test("a child that is denied is cancelled, and its parent is told", async () => {
  const theatre = new Theatre([chief, speaker]);
  const paused = pausedOf(await theatre.until(theatre.process().run("chief", null, { id: "r" })));
  expect(paused.children).toEqual(["r.0"]);
  const denied = await theatre.until(theatre.process().deny("r.0/checkpoint", { by: ANN, reason: "enough" }));
  expect(denied).toMatchObject({ status: "cancelled", reason: "enough", run_id: "r.0" });
  const done = await theatre.until(theatre.process().resume("r"));
  expect(done).toMatchObject({ status: "completed", result: { code: "child_failed", status: "cancelled" } });
  expect(theatre.said).toEqual(["a"]);
});

test("whoever drives the parent sees its end without asking for it again", async () => {
  const theatre = new Theatre([chief, speaker]);
  await theatre.until(theatre.process().run("chief", null, { id: "r" }));
  const [request] = await listOf(theatre.process().approvals());
  const bursar = theatre.process();
  await theatre.until(bursar.approve(request?.id ?? "", { by: ANN }));
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed", result: 2 });
});

test("a parent that stands still because of a child says what has run out, and whom to ask", async () => {
  const theatre = new Theatre([chief, speaker]);
  const paused = pausedOf(await theatre.until(theatre.process().run("chief", null, { id: "r" })));
  const [request] = await listOf(theatre.process().approvals());
  expect(paused).toMatchObject({ exhausted_dimension: "steps", approval_id: request?.id });
});

test("a yes to the checkpoint that the caller was given lets the whole run go on", async () => {
  const theatre = new Theatre([chief, speaker]);
  const { checkpoint_id } = pausedOf(await theatre.until(theatre.process().run("chief", null, { id: "r" })));
  const done = await theatre.until(theatre.process().approve(checkpoint_id, { by: ANN }));
  expect(done).toMatchObject({ run_id: "r", status: "completed", result: 2 });
});

/** A tool that never comes to its end by itself, and notes when it is told to stop. */
function endless(aborted: string[]) {
  return defineTool({
    name: "endless",
    description: "Goes on for ever.",
    input: { type: "object", properties: { name: { type: "string" } } },
    run: ({ name }: { name: string }, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          aborted.push(name);
          reject(signal.reason);
        });
      }),
  });
}

const stuck = defineAgent("stuck", async (ctx, { name }: { name: string }) => ctx.tool("endless", { name }));

test("to cancel a parent cancels its children and theirs, under way or paused, and aborts what they do", async () => {
  const aborted: string[] = [];
  const middle = defineAgent("middle", async (ctx) => ctx.spawn("stuck", { name: "grandchild" }));
  const top = defineAgent("top", async (ctx) =>
    Promise.all([
      ctx.spawn("middle"),
      ctx.spawn("stuck", { name: "child" }),
      ctx.spawn("speaker", { words: ["a", "b"] }, LIMITED),
    ]),
  );
  const theatre = new Theatre([top, middle, stuck, speaker], [endless(aborted)]);
  const bursar = theatre.process();
  const work = bursar.run("top", null, { id: "r" });
  await settle(100);
  expect((await bursar.find("r.2")).status).toBe("paused");
  const ended = await theatre.until(bursar.cancel("r", ANN, "no longer needed"));
  expect(ended).toMatchObject({ status: "cancelled", reason: "no longer needed" });
  expect(await theatre.until(work)).toMatchObject({ status: "cancelled" });
  for (const id of ["r.0", "r.0.0", "r.1", "r.2"]) expect((await bursar.find(id)).status).toBe("cancelled");
  expect(aborted.toSorted()).toEqual(["child", "grandchild"]);
  expect(await listOf(bursar.approvals())).toEqual([]);
  for (const id of ["r", "r.0", "r.0.0", "r.1", "r.2"]) {
    expect((await theatre.events(id)).at(-1)).toBe("RunCompleted");
    expect(await theatre.store.budget(id)).toMatchObject({ ended: true, open: 0 });
  }
});

test("a parent that is paused can be cancelled, and its children with it", async () => {
  const theatre = new Theatre([chief, speaker]);
  await theatre.until(theatre.process().run("chief", null, { id: "r" }));
  expect(await theatre.until(theatre.process().cancel("r", ANN))).toMatchObject({ status: "cancelled" });
  expect((await theatre.process().find("r.0")).status).toBe("cancelled");
  expect(await listOf(theatre.process().approvals())).toEqual([]);
});

test("a child that nobody waits for ends with its parent", async () => {
  const aborted: string[] = [];
  const careless = defineAgent("careless", async (ctx) => {
    void ctx.spawn("stuck", { name: "forgotten" });
    await ctx.sleep(100);
    await ctx.tool("echo", { text: "done" });
    return "done";
  });
  const theatre = new Theatre([careless, stuck], [endless(aborted)]);
  const result = await theatre.until(theatre.process().run("careless", null, { id: "r" }));
  expect(result).toMatchObject({ status: "completed", result: "done" });
  expect(await theatre.process().find("r.0")).toMatchObject({
    status: "cancelled",
    cancel: { by: "parent", reason: "run r has ended" },
  });
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
  expect((await theatre.events("r")).at(-1)).toBe("RunCompleted");
});

test("a parent that fails takes its children along", async () => {
  const aborted: string[] = [];
  const rash = defineAgent("rash", async (ctx) => {
    void ctx.spawn("stuck", { name: "left alone" });
    await ctx.sleep(100);
    await ctx.tool("echo", { text: "once" });
    throw new Error("enough of this");
  });
  const theatre = new Theatre([rash, stuck], [endless(aborted)]);
  const result = await theatre.until(theatre.process().run("rash", null, { id: "r" }));
  expect(result).toMatchObject({ status: "failed", failure: { message: "enough of this" } });
  expect((await theatre.process().find("r.0")).status).toBe("cancelled");
});

test("the end of a run does not look through all other runs of the store", async () => {
  const theatre = new Theatre([speaker]);
  const bursar = theatre.process();
  for (let number = 0; number < 20; number++) await bursar.start("speaker", { words: [] }, { id: `other-${number}` });
  let read = 0;
  const store = new Proxy(theatre.store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      if (name !== "documents") return value.bind(target);
      return async function* (...args: Parameters<typeof target.documents>) {
        for await (const document of target.documents(...args)) {
          read++;
          yield document;
        }
      };
    },
  });
  const other = theatre.process({ store });
  await theatre.until(other.run("speaker", { words: [] }, { id: "r" }));
  expect(read).toBeLessThan(20);
});

test("a cancelled parent is cancelled also where its child's program is at work in another process", async () => {
  const gate = new Latch();
  const slow = defineTool({ name: "slow", description: "Waits.", input: {}, run: () => gate.opened });
  const waiter = defineAgent("waiter", async (ctx) => ctx.tool("slow"));
  const boss = defineAgent("boss", async (ctx) => ctx.spawn("waiter"));
  const theatre = new Theatre([boss, waiter], [slow]);
  const work = theatre.process().run("boss", null, { id: "r" });
  await settle();
  expect(await theatre.until(theatre.process().cancel("r", ANN))).toMatchObject({ status: "cancelled" });
  expect(await theatre.until(work)).toMatchObject({ status: "cancelled" });
  expect((await theatre.process().find("r.0")).status).toBe("cancelled");
});
