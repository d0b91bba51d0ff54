// A program that knows nothing of budgets: an agent with a tool, written with the OpenAI Agents SDK.
import { Agent, run, tool } from "@openai/agents";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "Tells the weather.",
  parameters: z.object({ city: z.string() }),
  execute: async () => "Rain.",
});
const agent = new Agent({ name: "Forecaster", model: "scripted", tools: [weather] });
try {
  console.log(JSON.stringify([{ value: (await run(agent, "How is Rome?")).finalOutput }]));
} catch (error) {
  console.log(JSON.stringify([{ error: error.message, status: error.status }]));
}
