import { defineAgent } from "bursar";

export const agent = defineAgent("paused-agent", async (context) => {
  const began = await context.now();
  const chance = await context.random();
  const lengths = [];
  for (let turn = 0; turn < 32; turn++) {
    lengths.push(await context.tool("note", { text: `agent ${turn} ${chance}` }));
  }
  const later = await context.now();
  return { calls: lengths.length, same: chance < 1, later: later >= began };
});
