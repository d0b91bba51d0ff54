import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, mortal, Theatre } from "./stage.js";

const LIMITS = { wall_clock_ms: null };

/** A tool that tells when it is under way, and never comes to its end. */
function endless() {
  const begun = new Latch();
  const tool = defineTool({
    name: "endless",
    description: "Goes on for ever.",
    input: { type: "object" },
    run: () => {
      begun.open();
      return new Promise(() => {});
    },
  });
  return { begun, tool };
}

const waiter = defineAgent("waiter", async (ctx) => ctx.tool("endless", {}));
const chief = defineAgent("chief", async (ctx) => ctx.spawn("waiter", null, { fraction: 0.5 }));

test("a run whose time was over before another worker took it up leaves nothing held", async () => {
  const { begun, tool } = endless();
  const theatre = new Theatre([waiter], [tool]);
  const { seen: store, kill } = mortal(theatre.store);
  const deadline = new Date(theatre.clock.now().instant + 20_000);
  void theatre.process({ store }).run("waiter", null, { id: "r", limits: LIMITS, deadline });
  await begun.opened;
  kill();
  theatre.clock.advance(40_000);
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "failed" });
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
});

test("a run whose program was changed stands still with what is below it, and can be cancelled", async () => {
  const { begun, tool } = endless();
  const theatre = new Theatre([chief, waiter], [tool]);
  const { seen: store, kill } = mortal(theatre.store);
  void theatre.process({ store }).run("chief", null, { id: "r", limits: LIMITS });
  await begun.opened;
  kill();
  theatre.clock.advance(40_000);
  const changed = defineAgent("chief", async (ctx) => ctx.tool("echo", { text: "something else" }));
  const bursar = theatre.process({ programs: [changed, waiter] });
  await bursar.wake("r", ANN, { replayChanged: true });
  expect(await theatre.until(bursar.drive("r"))).toMatchObject({ status: "paused", pause: { approvals: [] } });
  expect(await theatre.until(bursar.cancel("r", ANN))).toMatchObject({ status: "cancelled" });
  expect(await bursar.find("r.0")).toMatchObject({ status: "cancelled" });
  for (const id of ["r", "r.0"]) expect(await theatre.store.budget(id)).toMatchObject({ ended: true, open: 0 });
});
