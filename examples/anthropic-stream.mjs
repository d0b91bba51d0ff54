// The Anthropic SDK, streamed. The request asks for up to 4,000 tokens; only some hundred are left, so it is sent with less: a shorter
// answer rather than none. The stream is charged by its own last event.
//   node examples/anthropic-stream.mjs
import Anthropic from "@anthropic-ai/sdk";
import { withBudget } from "bursar";
import { budget } from "bursar/anthropic";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const STORY = "Once there was a lighthouse that counted ships, and every ship counted back. ".repeat(40);
const provider = await openProvider("anthropic", [STORY]);
const client = new Anthropic({ ...provider.client, middleware: [budget()] });

await withBudget({ llm_output_tokens: 120, cost_usd: 0.01 }, async (open) => {
  const stream = client.messages.stream({
    model: provider.model,
    max_tokens: 4000,
    messages: [{ role: "user", content: "Tell me a long story about a lighthouse." }],
  });
  for await (const event of stream) {
    if (event.type === "content_block_delta" && event.delta.type === "text_delta")
      process.stdout.write(event.delta.text);
  }
  const { stop_reason, usage } = await stream.finalMessage();
  console.log(`\n\nIt ended with ${stop_reason}, after ${usage.output_tokens} tokens.`);
  printBill("Used:", await open.state());
});
await provider.close();
