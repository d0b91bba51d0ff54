import { expect, test } from "vitest";
import { type Link, parseLine } from "../../src/core/chain/link.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import type { MemoryStore } from "../../src/stores/memory.js";
import { Problems } from "../../src/views/views.js";
import { settle, Theatre } from "../runs/stage.js";

/** Every second one fails. */
const fickle = defineTool({
  name: "fickle",
  description: "Works now and then.",
  input: { type: "object", properties: { turn: { type: "number" } }, required: ["turn"] },
  run: ({ turn }: { turn: number }) => {
    if (turn % 2 === 1) throw new Error(`not in turn ${turn}`);
    return turn;
  },
});

const trier = defineAgent("trier", async (ctx, { turns }: { turns: number }) => {
  for (let turn = 0; turn < turns; turn++) {
    await ctx.tool("fickle", { turn }).catch(() => null);
    await ctx.sleep(1000);
  }
});

test("who follows a run hears why calls failed, and reads each answer once, however many there were before", async () => {
  const theatre = new Theatre([trier], [fickle]);
  const read = { journals: 0, entries: 0 };
  const counted = new Proxy(theatre.store, {
    get(target, name) {
      if (name === "journal") read.journals++;
      if (name === "entry") read.entries++;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as MemoryStore;
  const problems = new Problems(counted);
  let next = 0;
  const look = async (): Promise<readonly (string | null)[]> => {
    const links: Link[] = [];
    for await (const line of theatre.store.chain("r", next)) links.push(parseLine(line));
    next += links.length;
    return [...(await problems.of(links)).values()];
  };
  const done = theatre.process().run("trier", { turns: 40 }, { id: "r", limits: { steps: 100, wall_clock_ms: null } });
  const told: (string | null)[][] = [];
  for (let second = 0; second < 41; second++) {
    await settle();
    told.push([...(await look())]);
    theatre.clock.advance(1000);
  }
  expect((await theatre.until(done)).status).toBe("completed");
  told.push([...(await look())]);
  const expected = Array.from({ length: 20 }, (_, at) => `failed: not in turn ${2 * at + 1}`);
  expect(told.flat()).toEqual(expected);
  expect(read.journals).toBe(1);
  // Each step and each sleep has an answer, and each look asks for one that is not there yet.
  expect(read.entries).toBeLessThanOrEqual(40 * 2 + told.length);
});
