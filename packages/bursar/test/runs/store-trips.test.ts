import { defineAgent, defineTool, MemoryStore, openBursar, type Store } from "bursar";
import { expect, test } from "vitest";

const READS = ["budget", "path", "head", "document", "documents", "latest", "oldest", "beginning", "journal", "entry"];

/** A store that notes what it is asked for. */
function notedStore(): { readonly store: Store; readonly trips: string[] } {
  const trips: string[] = [];
  const store = new Proxy<Store>(new MemoryStore(), {
    get(inner, key) {
      const member: unknown = Reflect.get(inner, key);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]) => {
        if (key === "apply" || READS.includes(String(key))) trips.push(String(key));
        return Reflect.apply(member, inner, args);
      };
    },
  });
  return { store, trips };
}

const echo = defineTool({ name: "echo", description: "gives back", input: {}, run: () => 1 });
const four = defineAgent("four", async (ctx) => {
  for (let step = 0; step < 4; step++) await ctx.tool("echo", {});
  return "done";
});

test("a run of four steps takes eight transactions and two reads", async () => {
  const { store, trips } = notedStore();
  await using bursar = openBursar({ store, tools: [echo], programs: [four] });
  expect(await bursar.run("four", null)).toMatchObject({ status: "completed", usage: { steps: 4 } });
  expect(trips.filter((trip) => trip === "apply")).toHaveLength(8);
  // Its past, to estimate it, and what it has used in the end, for those to come.
  expect(trips.filter((trip) => trip !== "apply")).toEqual(["latest", "budget"]);
});

test("without foresight nothing is read at all", async () => {
  const { store, trips } = notedStore();
  await using bursar = openBursar({ store, tools: [echo], programs: [four], foresight: false });
  expect(await bursar.run("four", null)).toMatchObject({ status: "completed", usage: { steps: 4 } });
  expect([...new Set(trips)]).toEqual(["apply"]);
});

test("what a program does to its input is not written into the record of its run", async () => {
  const { store } = notedStore();
  const spoils = defineAgent("spoils", async (ctx, input: { words: string[] }) => {
    await ctx.tool("echo", {});
    input.words.push("more");
    return input.words;
  });
  await using bursar = openBursar({ store, tools: [echo], programs: [spoils] });
  const result = await bursar.run("spoils", { words: ["one"] }, { id: "r" });
  expect(result).toMatchObject({ result: ["one", "more"] });
  expect((await bursar.find("r")).input).toEqual({ words: ["one"] });
});

test("a run that is cancelled while it works ends as it was written by others", async () => {
  const { store } = notedStore();
  let cancelled: Promise<unknown> = Promise.resolve();
  const waits = defineTool({
    name: "waits",
    description: "is cancelled meanwhile",
    input: {},
    run: async (_, { signal }) => {
      cancelled = bursar.cancel("r", undefined, "no longer wanted");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return 1;
    },
  });
  const agent = defineAgent("waits", (ctx) => ctx.tool("waits", {}));
  await using bursar = openBursar({ store, tools: [waits], programs: [agent] });
  expect(await bursar.run("waits", null, { id: "r" })).toMatchObject({
    status: "cancelled",
    reason: "no longer wanted",
  });
  await cancelled;
});

test("a run ends where a past of its name was left behind", async () => {
  const { store } = notedStore();
  const body = { program: "four", used: {}, ended: 1 };
  await store.apply([{ op: "put", kind: "history", id: "r", budget: null, status: "program other", body, version: 0 }]);
  await using bursar = openBursar({ store, tools: [echo], programs: [four] });
  expect(await bursar.run("four", null, { id: "r" })).toMatchObject({ status: "completed" });
  expect(await store.document("history", "r")).toMatchObject({ version: 2, status: "program four" });
});
