// A program that knows nothing of budgets: a loop with a tool, written with the AI SDK.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const model = createOpenAI({ apiKey: "k" })("scripted");
const weather = tool({
  description: "Tells the weather.",
  inputSchema: z.object({ city: z.string() }),
  execute: async () => "Rain.",
});
try {
  const { text } = await generateText({ model, prompt: "How is Rome?", tools: { weather }, stopWhen: stepCountIs(5) });
  console.log(JSON.stringify([{ value: text }]));
} catch (error) {
  console.log(JSON.stringify([{ error: error.message, status: error.statusCode }]));
}
