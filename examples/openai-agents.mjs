// The OpenAI Agents SDK: an agent that uses another one as a tool. `depth: 1` lets it go one level down and no further, and all
// of them together have six requests.
//   node examples/openai-agents.mjs
import { Agent, Runner, setTracingDisabled } from "@openai/agents";
import { withBudget } from "bursar";
import { BudgetExceededError, governedProvider, nested } from "bursar/openai-agents";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

// Traces would go to OpenAI's own server, which is no model call and is not metered.
setTracingDisabled(true);

const USAGE = { prompt_tokens: 120, completion_tokens: 30 };
const provider = await openProvider("openai", ({ body, messages }) => {
  const isLead = JSON.stringify(body).includes("You lead");
  if (!isLead) return { kind: "text", text: "Basalt, mostly.", usage: USAGE };
  if (messages.some(({ type }) => type === "function_call_output"))
    return { kind: "text", text: "The island is made of basalt.", usage: USAGE };
  return {
    kind: "text",
    text: "",
    usage: USAGE,
    tool_calls: [{ name: "ask_geologist", arguments: { input: "What rock?" } }],
  };
});
const { model, client } = provider;
const geologist = new Agent({ name: "Geologist", model, instructions: "You answer about rocks, in one sentence." });
const ask = geologist.asTool({ toolName: "ask_geologist", toolDescription: "Asks a geologist." });
const lead = new Agent({
  name: "Lead",
  model,
  instructions: "You lead a survey. Ask the geologist first.",
  tools: [nested(ask)],
});
const runner = new Runner({ modelProvider: governedProvider(client) });

await withBudget({ steps: 6, cost_usd: 0.02, depth: 1 }, async (budget) => {
  try {
    const { finalOutput } = await runner.run(lead, "What is Surtsey made of?");
    console.log(finalOutput);
  } catch (error) {
    const refused = BudgetExceededError.from(error);
    if (refused === null) throw error;
    console.log(`Stopped: ${refused.message}`);
  }
  printBill("Used, by both agents:", await budget.state());
});
await provider.close();
