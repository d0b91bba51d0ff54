// The AI SDK with tools. `govern(model)` pays for every attempt, and `budgetStop()` ends the loop cleanly when the budget is used up,
// with what the model has said until then.
//   node examples/ai-sdk.mjs
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { withBudget } from "bursar";
import { budgetStop, govern } from "bursar/ai";
import { z } from "zod";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const SHELVES = ["Ada", "Byron", "Curie", "Darwin"];
// This model never has enough: it wants the next shelf, every time.
const provider = await openProvider("openai", ({ number }) => ({
  kind: "text",
  text: `Seen ${number} of them.`,
  usage: { prompt_tokens: 150 * number, completion_tokens: 30 },
  tool_calls: [{ name: "look", arguments: { shelf: number - 1 } }],
}));
const openai = createOpenAI(provider.client);
const look = tool({
  description: "Looks at one shelf of the library, from 0 to 3.",
  inputSchema: z.object({ shelf: z.number() }),
  execute: ({ shelf }) => {
    console.log(`  looks at shelf ${shelf}`);
    return SHELVES[shelf] ?? "empty";
  },
});

await withBudget({ steps: 4, llm_tokens: 20_000, cost_usd: 0.02 }, async (budget) => {
  const { text, steps } = await generateText({
    model: govern(openai(provider.model)),
    prompt: "Whose books are on the shelves? Look at all of them, one after another.",
    tools: { look },
    stopWhen: [budgetStop(), stepCountIs(50)],
  });
  console.log(`After ${steps.length} rounds: ${text}`);
  printBill("Used:", await budget.state());
});
await provider.close();
