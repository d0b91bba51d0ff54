import { defineAgent, defineTool, MemoryStore, openBursar } from "bursar";
import { type Equipment, needsFrom, reviver } from "../src/app/equipment/equipment.js";
import { LazySandbox } from "../src/app/equipment/lazy-sandbox.js";
import { needing } from "../src/app/programs/program-needs.js";
import { FLAG_REMEDIES } from "../src/arguments/deployments.js";
import { Acts } from "../src/tui/acts.js";
import { Controls } from "../src/tui/controls.js";
import { Lookout } from "../src/tui/lookout.js";

const note = defineTool({
  name: "note",
  description: "",
  input: { type: "object" },
  quote: { cost_usd: 0.05 },
  meter: () => ({ cost_usd: 0.02 }),
  run: () => "noted",
});

const letter = defineTool({
  name: "letter",
  description: "",
  input: { type: "object" },
  approval: true,
  run: () => "sent",
});

const writer = defineAgent("writer", async (ctx, input) => {
  const { notes, letters } = { notes: 0, letters: 0, ...(input as object) };
  for (let round = 0; round < notes; round++) await ctx.tool("note", { word: "\x1b[31mred" });
  const said: unknown[] = [];
  for (let round = 0; round < letters; round++) {
    said.push(await ctx.tool("letter", {}).catch((error: Error) => error.message));
  }
  return said as string[];
});

/** A store in memory with an agent that writes notes, and everything of a screen but its window. */
export async function openTuiStage() {
  const store = new MemoryStore();
  const sandbox = new LazySandbox({});
  const equipment: Equipment = {
    programs: [writer],
    tools: [note, letter],
    model: null,
    prices: null,
    deployments: {},
    allow: {},
    remedies: FLAG_REMEDIES,
    sandbox,
    flags: [],
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
  const bursar = openBursar({ store, programs: [writer], tools: [note, letter], revive: reviver(equipment) });
  // As `bursar run` starts it: the store knows what it needs to go on.
  const program = needing(writer, needsFrom(equipment, writer));
  const left: string[] = [];
  const controls = new Controls({ leave: (how) => left.push(how), repaint: () => left.push("repaint") });
  const acts = new Acts(bursar, { name: "ann", role: "operator" }, controls.tell);
  const lookout = new Lookout(store, controls.see);
  controls.connect(acts, lookout);
  return {
    store,
    bursar,
    equipment,
    program,
    controls,
    acts,
    lookout,
    left,
    /** Starts a run that pauses for its third step. */
    paused: (id: string) =>
      bursar.run(program, { notes: 4 }, { id, limits: { steps: 2 }, policies: { steps: "approval_required" } }),
    asking: (id: string) => bursar.run(program, { letters: 1 }, { id, limits: { steps: 9 } }),
    [Symbol.asyncDispose]: async () => {
      await lookout.stop();
      await acts[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
