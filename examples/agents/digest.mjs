// An agent in JavaScript, as trusted code:
//   bursar run digest.mjs --agent --module tools.mjs --input '{"topics":["tea","coffee"]}'
import { defineAgent } from "bursar";

export const digest = defineAgent("digest", async (ctx, { topics }) => {
  const lines = [];
  for (const topic of topics) {
    const notes = await ctx.tool("notes/search", { topic });
    lines.push(`${topic}: ${notes.length} notes`);
  }
  const today = await ctx.now();
  return { made: today.toISOString().slice(0, 10), lines };
});
