import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

const talker = defineAgent("talker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

const OPTIONS = { id: "r", limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
const INPUT = { words: ["a", "b"] };

test("a process that does not know the program can cancel a run", async () => {
  const theatre = new Theatre([talker]);
  pausedOf(await theatre.process().run("talker", INPUT, OPTIONS));
  const elsewhere = theatre.process({ programs: [] });
  expect(await theatre.until(elsewhere.cancel("r", ANN))).toMatchObject({ status: "cancelled" });
});

test("a process that does not know the program can deny a request", async () => {
  const theatre = new Theatre([talker]);
  pausedOf(await theatre.process().run("talker", INPUT, OPTIONS));
  const elsewhere = theatre.process({ programs: [] });
  expect(await theatre.until(elsewhere.deny("r/checkpoint", { by: ANN }))).toMatchObject({ status: "cancelled" });
});

test("a process that does not know the program can say yes, and leaves the run to those who do", async () => {
  const theatre = new Theatre([talker]);
  pausedOf(await theatre.process().run("talker", INPUT, OPTIONS));
  const elsewhere = theatre.process({ programs: [] });
  const answered = elsewhere.approve("r/checkpoint", { by: ANN }).catch((error: Error) => error);
  expect(await theatre.until(answered)).not.toBeInstanceOf(Error);
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed" });
});

test("two programs of one name, each started as it is, are each executed as they are", async () => {
  const one = defineAgent("main", async () => "one", { version: "1" });
  const two = defineAgent("main", async () => "two", { version: "2" });
  const bursar = new Theatre([]).process();
  expect(await bursar.run(one, null, { id: "a" })).toMatchObject({ status: "completed", result: "one" });
  expect(await bursar.run(two, null, { id: "b" })).toMatchObject({ status: "completed", result: "two" });
});

test("a run that was started twice under one name is one run", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  const [first, second] = await theatre.until(
    Promise.all([bursar.run("talker", INPUT, { id: "r" }), theatre.process().run("talker", INPUT, { id: "r" })]),
  );
  expect(first).toMatchObject({ status: "completed", result: 2 });
  expect(second).toMatchObject({ status: "completed", result: 2 });
  expect(theatre.said).toEqual(["a", "b"]);
  expect(await listOf(theatre.store.documents("run"))).toHaveLength(1);
});

test("without a store there are no runs, and that is said", () => {
  expect(() => openBursar({ programs: [talker] } as never)).toThrow("store is undefined; allowed: a store");
});

test("an option that is not known is an error, and not a run without it", async () => {
  const theatre = new Theatre([talker]);
  const typo = { id: "r", limit: { steps: 1 } } as object;
  await expect(theatre.process().start("talker", INPUT, typo)).rejects.toThrow("limit");
  expect(await theatre.store.document("run", "r")).toBe(null);
});

/** What nobody has caught while something is done. */
async function unhandledWhile(work: () => Promise<void>): Promise<readonly unknown[]> {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", note);
  try {
    await work();
    await new Promise((resolve) => setTimeout(resolve, 0));
    return unhandled;
  } finally {
    process.removeListener("unhandledRejection", note);
    for (const other of others) process.on("unhandledRejection", other);
  }
}

test("a listener that throws ends neither the run nor the process", async () => {
  const theatre = new Theatre([talker]);
  const changed = () => {
    throw new Error("the listener is broken");
  };
  const unhandled = await unhandledWhile(async () => {
    const result = await theatre.until(theatre.process({ changed }).run("talker", INPUT, { id: "r" }));
    expect(result.status).toBe("completed");
  });
  expect(unhandled).toEqual([]);
});

test("a call that fails, and that its agent never awaits, does not end the process with all its other runs", async () => {
  const careless = defineAgent("careless", async (ctx) => {
    void ctx.tool("nobody has this", {});
    void ctx.model({ messages: [] });
    await ctx.tool("echo", { text: "a" });
    return "done";
  });
  const theatre = new Theatre([careless]);
  const unhandled = await unhandledWhile(async () => {
    const result = await theatre.until(theatre.process().run("careless", null, { id: "r" }));
    expect(result).toMatchObject({ status: "completed", result: "done" });
  });
  expect(unhandled).toEqual([]);
});
