// A plan in RTFS: what is to be done and what it may use, in one text that is checked before anything runs. Every question becomes a
// child with a budget of its own.
//   node examples/plan.mjs
import { openSandbox } from "@bursar/sandbox";
import { MemoryStore, openBursar } from "bursar";
import { chatModel } from "bursar/models";
import { compilePlan, planProgram } from "bursar/plans";
import { printBillOf } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const TEXT = `
(run
  :name "interview"
  :inputs [questions]
  :budget {:steps 20 :cost-usd 0.02}
  :body
  (let [ask (fn [question]
              (run
                :name "question"
                :input {:question question}
                :inputs [question]
                :budget {:steps 2 :cost-usd 0.005}
                :body (:text (call :llm/ask {:prompt question :max_tokens 200}))))]
    {:answers (pmap ask questions)}))
`;

const provider = await openProvider("openai", ({ text }) => ({
  kind: "text",
  text: text.includes("old") ? "Older than the town." : "By boat.",
  usage: { prompt_tokens: 30, completion_tokens: 10 },
}));
const sandbox = await openSandbox();
const store = new MemoryStore();
const plan = compilePlan(TEXT, { file: "interview.rtfs" });
const bursar = openBursar({
  store,
  programs: [planProgram(plan, async () => sandbox)],
  model: chatModel({ url: provider.url, model: provider.model, apiKey: provider.apiKey }),
});

const questions = ["How old is the harbour?", "How does one get there?"];
// The plan's own :budget holds; limits given here would go before it.
const result = await bursar.run("interview", { questions }, { id: "interview" });
console.log(`interview has ${result.status}:`, result.status === "completed" ? result.result : result);
await printBillOf(store, "interview");

await bursar[Symbol.asyncDispose]();
await sandbox[Symbol.asyncDispose]();
await provider.close();
