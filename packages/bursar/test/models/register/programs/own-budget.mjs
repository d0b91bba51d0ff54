// A program with a budget of its own, larger than the one it was started with.
import { withBudget } from "bursar";
import OpenAI from "openai";

const client = new OpenAI({ apiKey: "k" });
const request = { model: "scripted", messages: [{ role: "user", content: "Hello." }] };
const outcomes = [];
await withBudget({ steps: 100 }, async (budget) => {
  for (let call = 0; call < 3; call++) {
    try {
      outcomes.push({ value: (await client.chat.completions.create(request)).choices[0].message.content });
    } catch (error) {
      outcomes.push({ error: error.message, status: error.status });
    }
  }
  outcomes.push({ value: (await budget.state()).used.steps });
});
console.log(JSON.stringify(outcomes));
