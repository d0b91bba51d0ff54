import { expect, test } from "vitest";
import { parseLine } from "../../src/core/chain/link.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { listSteps, Problems, readStory } from "../../src/views/views.js";
import { Theatre } from "../runs/stage.js";

const broken = defineTool({
  name: "broken",
  description: "Fails.",
  input: { type: "object" },
  run: () => {
    throw new Error("no");
  },
});

/** Is over with the first of two failures, before it could be told of the second. */
const hasty = defineAgent("hasty", async (ctx) => {
  await ctx.tool("echo", { text: "a" });
  await Promise.all([ctx.tool("broken", {}), ctx.tool("broken", {})]);
});

test("what the program was not told before its run ended is not known, and never taken for done", async () => {
  const theatre = new Theatre([hasty], [broken]);
  const { store } = theatre;
  await theatre.until(theatre.process().run("hasty", null, { id: "r", limits: { steps: 10 } }));
  const run = await theatre.process().find("r");
  expect(run.status).toBe("failed");
  const states = ["done", "failed", "interrupted"];
  const { steps } = await readStory(store, run);
  expect(steps.map(({ state }) => state)).toEqual(states);
  expect(steps[2]?.problem).toBe("the run ended before its program was told; whether it has worked is not known");
  for (let look = 0; look < 2; look++) {
    const { items } = await listSteps(store, run);
    expect(items).toMatchObject(steps);
  }
  const links = [];
  for await (const line of store.chain("r")) links.push(parseLine(line));
  expect([...(await new Problems(store).of(links))]).toEqual([
    ["r/1", "failed: no"],
    ["r/2", null],
  ]);
});
