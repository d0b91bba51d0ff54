// What a run will take, told before its first token: by the program itself while it is new, then by its own past. A run whose 95 % does
// not fit asks before it begins, and the report says how well the predictions have held.
//   node examples/foresight.mjs
import { calibration, defineAgent, MemoryStore, openBursar } from "bursar";
import { chatModel } from "bursar/models";
import { printBillOf } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", ({ text }) => ({
  // Answers differ in length, as they do in life.
  kind: "text",
  text: "So it is said.",
  usage: { prompt_tokens: 30, completion_tokens: 10 + (text.length % 20) },
}));

/** It knows how many steps it takes, and not what they cost: that is what its past is for. */
const survey = defineAgent(
  "survey",
  async (ctx, /** @type {{ questions: string[] }} */ { questions }) => {
    for (const question of questions) {
      await ctx.model({ messages: [{ role: "user", content: `In one sentence: ${question}` }], max_tokens: 60 });
    }
    return `${questions.length} answers`;
  },
  { expects: ({ questions }) => ({ steps: questions.length }) },
);

const store = new MemoryStore();
const bursar = openBursar({
  store,
  programs: [survey],
  model: chatModel({ url: provider.url, model: provider.model, apiKey: provider.apiKey }),
});
// All runs of this example together.
const session = "surveys";
await bursar.openSession(session, { cost_usd: 0.02, steps: 60 });

const QUESTIONS = ["Why is the sea salt?", "How old is Riga?", "Who invented the zip?", "What do bees see?"];
const some = (/** @type {number} */ count) => ({ questions: QUESTIONS.slice(0, count) });

/**
 * @param {string} title
 * @param {import("bursar").Preflight} preflight
 */
function print(title, { dimensions, estimate, fits }) {
  console.log(title);
  for (const { dimension, median, upper, limit, source } of dimensions) {
    if (dimension !== "steps" && dimension !== "cost_usd") continue;
    console.log(`  ${dimension}: about ${median}, up to ${upper}, allowed ${limit} (${source})`);
  }
  for (const { source, about } of estimate?.opinions ?? []) console.log(`  ${source}: ${about}`);
  console.log(fits ? "  It fits.\n" : "  It does not fit.\n");
}

print("Before the first run:", await bursar.estimate("survey", some(4), { session }));
for (let run = 0; run < 12; run++) await bursar.run("survey", some(1 + (run % 4)), { session });
print("After twelve:", await bursar.estimate("survey", some(4), { session }));
print("With two steps:", await bursar.estimate("survey", some(4), { session, limits: { steps: 2 } }));

const tight = /** @type {const} */ ({ id: "tight", session, limits: { steps: 2 }, preflight: "ask" });
let result = await bursar.run("survey", some(4), tight);
console.log(`Started all the same, the run has ${result.status} before its first call.`);
for await (const { id, suggested_extension } of bursar.approvals()) {
  console.log(`  suggested: ${JSON.stringify(suggested_extension)}. Approved.`);
  result = await bursar.approve(id, { by: { name: "ann", role: "operator" } });
  break;
}
console.log(`The run has ${result.status}: ${result.status === "completed" ? result.result : ""}`);

const rows = await calibration(store, { program: "survey" });
const cost = rows.find(({ dimension }) => dimension === "cost_usd");
if (cost)
  console.log(`\nThe cost of ${Math.round(cost.covered * cost.runs)} of ${cost.runs} runs stayed within their 95 %.`);

await printBillOf(store, "tight");
await bursar[Symbol.asyncDispose]();
await provider.close();
