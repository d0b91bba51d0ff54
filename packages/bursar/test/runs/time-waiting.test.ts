import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, mortal, pausedOf, Theatre } from "./stage.js";

const HOUR = 60 * 60_000;
const SHORT = { limits: { wall_clock_ms: 5000 } };
const ASKS = { limits: { wall_clock_ms: 5000, steps: 1 }, policies: { steps: "approval_required" } } as const;

const speaker = defineAgent("speaker", async (ctx) => {
  for (const text of ["a", "b"]) await ctx.tool("echo", { text });
  return "said";
});
const chief = defineAgent("chief", async (ctx) => ctx.spawn("speaker", null, ASKS));

async function clockOf(theatre: Theatre, run: string): Promise<number> {
  const { usage } = await theatre.process().result(await theatre.process().find(run));
  return Number(usage.wall_clock_ms);
}

test("a run that waits for somebody to drive it uses no time of its own", async () => {
  const theatre = new Theatre([speaker]);
  await theatre.process().start("speaker", null, { id: "r", ...SHORT });
  theatre.clock.advance(HOUR);
  expect(await clockOf(theatre, "r")).toBe(0);
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed" });
  expect(await clockOf(theatre, "r")).toBeLessThan(5000);
});

/** A run of a tool that does not come to its end before it is told to. */
function slow() {
  const begun = new Latch();
  let isLast = false;
  const tool = defineTool({
    name: "slow",
    description: "Is slow the first time.",
    input: { type: "object" },
    run: () => {
      begun.open();
      return isLast ? "at last" : new Promise(() => {});
    },
  });
  const theatre = new Theatre([defineAgent("slow", async (ctx) => ctx.tool("slow", {}))], [tool]);
  const hurry = () => {
    isLast = true;
  };
  return { theatre, begun, hurry };
}

test("nor does one that its worker has let go of", async () => {
  const { theatre, begun, hurry } = slow();
  const first = theatre.process();
  first.run("slow", null, { id: "r", ...SHORT }).catch(() => {});
  await begun.opened;
  theatre.clock.advance(1000);
  await theatre.until(first[Symbol.asyncDispose]());
  const before = await clockOf(theatre, "r");
  expect(before).toBeGreaterThanOrEqual(1000);
  theatre.clock.advance(HOUR);
  expect(await clockOf(theatre, "r")).toBe(before);
  hurry();
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed", result: "at last" });
});

test("nor one that was allowed to go on, and waits for a worker", async () => {
  const theatre = new Theatre([speaker]);
  const { checkpoint_id } = pausedOf(await theatre.until(theatre.process().run("speaker", null, { id: "r", ...ASKS })));
  await theatre.process().decide(checkpoint_id, "approve", { by: ANN });
  const before = await clockOf(theatre, "r");
  theatre.clock.advance(HOUR);
  expect(await clockOf(theatre, "r")).toBe(before);
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed" });
});

test("a child goes on while nobody drives its parent, whose clock then runs with it", async () => {
  const theatre = new Theatre([chief, speaker]);
  await theatre.until(theatre.process().run("chief", null, { id: "r", ...SHORT }));
  await theatre.process().decide("r.0/checkpoint", "approve", { by: ANN });
  theatre.clock.advance(HOUR);
  expect(await theatre.until(theatre.process().drive("r.0"))).toMatchObject({ status: "completed" });
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed", result: "said" });
});

test("nor one whose worker has died, from its last word on", async () => {
  const { theatre, begun, hurry } = slow();
  const { seen: store, kill } = mortal(theatre.store);
  void theatre.process({ store, claim_ms: 2000 }).run("slow", null, { id: "r", ...SHORT });
  await begun.opened;
  kill();
  theatre.clock.advance(HOUR);
  hurry();
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed", result: "at last" });
  expect(await clockOf(theatre, "r")).toBeLessThan(3000);
});
