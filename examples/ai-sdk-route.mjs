// A route handler that streams with the AI SDK. The budget stays open until the stream has ended, also over several rounds with tools.
//   node examples/ai-sdk-route.mjs
import { createOpenAI } from "@ai-sdk/openai";
import { stepCountIs, streamText, tool } from "ai";
import { withBudget } from "bursar";
import { govern } from "bursar/ai";
import { z } from "zod";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", ({ number }) => ({
  kind: "text",
  text: number === 1 ? "" : "It is a quarter past four.",
  usage: { prompt_tokens: 60, completion_tokens: 12 },
  tool_calls: number === 1 ? [{ name: "look", arguments: {} }] : [],
}));
const openai = createOpenAI(provider.client);
const look = tool({ description: "Looks at the clock.", inputSchema: z.object({}), execute: () => "16:15" });

/** @type {import("bursar").OpenBudget | undefined} */
let budget;

/** @param {Request} request */
async function POST(request) {
  const prompt = await request.text();
  return withBudget({ steps: 5, cost_usd: 0.02 }, (opened) => {
    budget = opened;
    const model = govern(openai(provider.model));
    return streamText({ model, prompt, tools: { look }, stopWhen: stepCountIs(5) }).toTextStreamResponse();
  });
}

const response = await POST(new Request("http://localhost/", { method: "POST", body: "What time is it?" }));
console.log(`${response.status}: ${await response.text()}`);
if (budget !== undefined) printBill("Used:", await budget.state());
await provider.close();
