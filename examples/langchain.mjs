// A LangChain agent whose tool asks the same model. One budget pays for both, and counts how deep it goes.
//   node examples/langchain.mjs
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { withBudget } from "bursar";
import { budget } from "bursar/langchain";
import { createAgent } from "langchain";
import { z } from "zod";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const USAGE = { prompt_tokens: 90, completion_tokens: 25 };
const provider = await openProvider("openai", ({ text, messages }) => {
  if (text.startsWith("Translate")) return { kind: "text", text: "Guten Morgen", usage: USAGE };
  if (messages.some(({ role }) => role === "tool"))
    return { kind: "text", text: "It is “Guten Morgen”.", usage: USAGE };
  return {
    kind: "text",
    text: "",
    usage: USAGE,
    tool_calls: [{ name: "translate", arguments: { phrase: "Good morning" } }],
  };
});
const { openai } = budget();
const model = new ChatOpenAI({
  model: provider.model,
  maxTokens: 300,
  callbacks: openai.callbacks,
  ...(provider.client.apiKey !== undefined && { apiKey: provider.client.apiKey }),
  configuration: { ...openai.configuration, ...(provider.client.baseURL !== undefined && { baseURL: provider.url }) },
});
const translate = tool(async ({ phrase }) => (await model.invoke(`Translate into German: ${phrase}`)).text, {
  name: "translate",
  description: "Translates a phrase into German.",
  schema: z.object({ phrase: z.string() }),
});

await withBudget({ cost_usd: 0.02, steps: 6, iterations: 6, depth: 1 }, async (open) => {
  const agent = createAgent({ model, tools: [translate] });
  const messages = [{ role: "user", content: "What is “Good morning” in German? Use the tool." }];
  const result = await agent.invoke({ messages }, { callbacks: openai.callbacks });
  console.log(result.messages.at(-1)?.text);
  printBill("Used, by the agent and by its tool:", await open.state());
});
await provider.close();
