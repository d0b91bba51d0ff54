import { expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, listOf, settle, Theatre } from "./stage.js";

const LIMITED = { limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;

const speaker = defineAgent("speaker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

const chief = defineAgent("chief", async (ctx) => ctx.spawn("speaker", { words: ["a", "b"] }, LIMITED));

/** A store on which something happens just before a run is written down as paused, once. */
function before(theatre: Theatre, run: string, happens: () => Promise<unknown>) {
  let done = false;
  const apply = async (operations: readonly Operation[]) => {
    const pausing = operations.some((each) => each.op === "put" && each.id === run && each.status === "paused");
    if (pausing && !done) {
      done = true;
      await happens();
    }
    return theatre.store.apply(operations);
  };
  return new Proxy(theatre.store, {
    get: (target, name) => {
      if (name === "apply") return apply;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("a yes to a child that comes just when its parent is about to stand still is not lost", async () => {
  const theatre = new Theatre([chief, speaker]);
  const elsewhere = theatre.process();
  let answering: Promise<unknown> = Promise.resolve();
  const store = before(theatre, "r", async () => {
    const [request] = await listOf(elsewhere.approvals());
    answering = elsewhere.approve(request?.id ?? "", { by: ANN }).catch((error: unknown) => error);
    await settle(3);
  });
  const bursar = theatre.process({ store });
  await theatre.until(bursar.run("chief", null, { id: "r" }));
  // Whoever said yes sees the child come to its end.
  expect(await theatre.until(answering)).toMatchObject({ status: "completed", result: 2 });
  // Nothing is left that anybody could be asked, so the parent must not stand still.
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "completed", result: 2 });
});

test("a run that is cancelled just when it is about to stand still is cancelled", async () => {
  const theatre = new Theatre([speaker]);
  const elsewhere = theatre.process();
  let cancelling: Promise<unknown> = Promise.resolve();
  const store = before(theatre, "r", async () => {
    cancelling = elsewhere.cancel("r", ANN, "no more").catch((error: unknown) => error);
    await settle(3);
  });
  const work = theatre.process({ store }).run("speaker", { words: ["a", "b"] }, { id: "r", ...LIMITED });
  await theatre.until(work);
  expect(await theatre.until(cancelling)).toMatchObject({ status: "cancelled", reason: "no more" });
  expect((await theatre.process().find("r")).status).toBe("cancelled");
});

test("what a run has used and heard last is kept also when somebody writes to it at the same moment", async () => {
  const random: number[] = [];
  const gambler = defineAgent("gambler", async (ctx) => {
    // Nothing is written while it sleeps, and what it hears then is written when it stands still.
    await ctx.sleep(1000);
    random.push(await ctx.random());
    await ctx.tool("ask");
    return random.length;
  });
  const ask = defineTool({ name: "ask", description: "Needs a yes.", input: {}, approval: true, run: () => "done" });
  const theatre = new Theatre([gambler], [ask]);
  const store = before(theatre, "r", async () => {
    const document = await theatre.store.document("run", "r");
    // Somebody touches the run, which changes nothing but its version.
    if (document !== null) await theatre.store.apply([{ op: "put", ...document }]);
  });
  await theatre.until(theatre.process({ store }).run("gambler", null, { id: "r" }));
  await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN }));
  expect((await theatre.process().find("r")).status).toBe("completed");
  expect(random).toHaveLength(2);
  expect(random[1]).toBe(random[0]);
});
