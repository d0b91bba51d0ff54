// One budget for a tenant, one for each of its users, one for each conversation: a tree. Twenty users talk at once, and every call
// is reserved in all three at the same time, so that neither a user nor the tenant is ever over, whoever comes first.
//   node examples/tenants.mjs
import { openBudget, withBudget } from "bursar";
import { BudgetExceededError, governedFetch } from "bursar/fetch";
import OpenAI from "openai";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", () => ({
  kind: "text",
  text: "Certainly.",
  usage: { prompt_tokens: 100, completion_tokens: 100 },
}));
const client = new OpenAI({ ...provider.client, fetch: governedFetch() });

/** A conversation of three questions; tells how many were answered, and what stood in the way of the next. */
async function talk() {
  for (let answered = 0; answered < 3; answered++) {
    try {
      await client.chat.completions.create({
        model: provider.model,
        max_tokens: 120,
        messages: [{ role: "user", content: "May I ask you something?" }],
      });
    } catch (error) {
      const refused = BudgetExceededError.from(error);
      if (refused === null) throw error;
      return { answered, refused: `${refused.report.dimension} of ${refused.report.scope}` };
    }
  }
  return { answered: 3, refused: "nothing" };
}

const tenant = await openBudget(
  { llm_tokens: 8000, cost_usd: 0.05 },
  { name: "acme", policies: { llm_tokens: "hard_stop" } },
);
const users = Array.from({ length: 20 }, (_, index) => `user-${index + 1}`);
const told = await tenant.run(() =>
  Promise.all(users.map((name) => withBudget({ steps: name === "user-1" ? 1 : 10 }, talk, { name }))),
);

const tally = new Map();
for (const { answered, refused } of told) {
  const line = `answered ${answered}, then refused by ${refused}`;
  tally.set(line, (tally.get(line) ?? 0) + 1);
}
for (const [line, count] of [...tally].sort()) console.log(`${String(count).padStart(3)} users: ${line}`);
printBill("The tenant:", await tenant.state());
await tenant.end();
await provider.close();
