import { defineAgent, defineTool, type Program, type Tool } from "bursar";

// Loaded by `bursar worker --module` and by the bench that queues its runs.

const nothing = defineTool({ name: "nothing", description: "Does nothing.", input: {}, run: async () => "done" });

/** Four steps that take no time, so that all the time is ours. */
const fourSteps = defineAgent("four-steps", async (ctx) => {
  for (let step = 0; step < 4; step++) await ctx.tool("nothing");
  return "done";
});

export const tools: readonly Tool[] = [nothing];
export const programs: readonly Program[] = [fourSteps];
