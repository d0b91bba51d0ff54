import { defineAgent, defineTool, type RunError } from "bursar";
import { expect, test } from "vitest";
import { Theatre } from "./stage.js";

const circular: Record<string, unknown> = {};
circular.self = circular;

const trying = defineAgent("trying", async (ctx, { tools }: { tools: string[] }) => {
  const told: Record<string, unknown> = {};
  for (const name of tools) told[name] = await ctx.tool(name).catch(({ code }: RunError) => code);
  return told;
});

const giving = (name: string, value: () => unknown) =>
  defineTool({ name, description: "Gives something back.", input: {}, meter: () => ({ cost_usd: 0.01 }), run: value });

test("what a tool gives back that is no JSON is an error at the await, and the run goes on", async () => {
  const unwritable = {
    circular: () => circular,
    big: () => ({ amount: 1n }),
    function: () => () => 1,
    symbol: () => Symbol("s"),
    getter: () => ({
      get a() {
        throw Object.create(null);
      },
    }),
  };
  const written = { nan: () => ({ a: Number.NaN, b: undefined }), date: () => new Date(0) };
  const tools = Object.entries({ ...unwritable, ...written }).map(([name, value]) => giving(name, value));
  const theatre = new Theatre([trying], tools);
  const result = await theatre.until(theatre.process().run("trying", { tools: tools.map(({ name }) => name) }));
  expect(result).toMatchObject({
    status: "completed",
    result: {
      ...Object.fromEntries(Object.keys(unwritable).map((name) => [name, "unwritable"])),
      nan: { a: null },
      date: "1970-01-01T00:00:00.000Z",
    },
    // Each of them was made, and is paid for.
    usage: { steps: tools.length, cost_usd: 0.01 * tools.length },
  });
});

test("what a program is told of an error of a tool is for the host to say", async () => {
  const read = defineTool({
    name: "read",
    description: "Reads a file.",
    input: {},
    run: () => {
      throw new Error("ENOENT: /srv/secrets/key");
    },
  });
  const telling = defineAgent("telling", (ctx) => ctx.tool("read").catch((error: RunError) => error.message));
  const theatre = new Theatre([telling], [read]);
  const plain = theatre.process();
  expect(await theatre.until(plain.run("telling", {}))).toMatchObject({ result: "ENOENT: /srv/secrets/key" });
  const silent = theatre.process({ describeError: (_, tool) => `${tool} failed` });
  expect(await theatre.until(silent.run("telling", {}))).toMatchObject({ result: "read failed" });
});
