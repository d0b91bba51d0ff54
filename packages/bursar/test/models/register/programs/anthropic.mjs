// A program that knows nothing of budgets: it talks to Claude, or to whoever stands in for it.
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ apiKey: "k" });
const request = { model: "scripted", max_tokens: 50, messages: [{ role: "user", content: "Hello." }] };
const outcomes = [];
for (const kind of process.argv.slice(2)) {
  try {
    const message =
      kind === "stream" ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
    outcomes.push({ value: message.content[0].text });
  } catch (error) {
    outcomes.push({ error: error.message, status: error.status });
  }
}
console.log(JSON.stringify(outcomes));
