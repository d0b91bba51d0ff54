// One line around the OpenAI SDK: `fetch: governedFetch()`. The loop asks for as long as it is let, and the budget ends it before
// the request that does not fit is sent.
//   node examples/openai-sdk.mjs
import { withBudget } from "bursar";
import { BudgetExceededError, governedFetch } from "bursar/fetch";
import OpenAI from "openai";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const FACTS = [
  "It has three hearts.",
  "Its blood is blue.",
  "It tastes with its arms.",
  "It sleeps, and may dream.",
  "It can open jars.",
  "It has no bones.",
  "It lives alone.",
  "It is gone in a year or two.",
];
const provider = await openProvider("openai", ({ number }) => ({
  kind: "text",
  text: FACTS[(number - 1) % FACTS.length] ?? "",
  usage: { prompt_tokens: 40, completion_tokens: 120 },
}));
const client = new OpenAI({ ...provider.client, fetch: governedFetch() });

await withBudget({ cost_usd: 0.0015, steps: 8 }, async (budget) => {
  try {
    for (let round = 1; ; round++) {
      const { output_text } = await client.responses.create({
        model: provider.model,
        input: `Fact number ${round} about the octopus, in one sentence.`,
        max_output_tokens: 200,
      });
      console.log(`${round}. ${output_text}`);
    }
  } catch (error) {
    const refused = BudgetExceededError.from(error);
    if (refused === null) throw error;
    const { dimension, used, limit } = refused.report;
    console.log(`Not sent: ${dimension} is at ${used} of ${limit}.`);
  }
  printBill("Used:", await budget.state());
});
await provider.close();
