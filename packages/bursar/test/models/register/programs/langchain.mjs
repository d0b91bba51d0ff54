// A program that knows nothing of budgets, written with LangChain.
import { ChatOpenAI } from "@langchain/openai";

const model = new ChatOpenAI({ model: "scripted", apiKey: "k" });
const outcomes = [];
for (const question of process.argv.slice(2)) {
  try {
    outcomes.push({ value: (await model.invoke(question)).content });
  } catch (error) {
    outcomes.push({ error: error.message, status: error.status });
  }
}
console.log(JSON.stringify(outcomes));
