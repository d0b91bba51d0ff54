// A run that pauses before the call it cannot pay for, and waits in the store for a person. One `Bursar` starts it and goes away;
// another one, as in another process or on another day, says yes, and the run goes on from where it was.
//   node examples/approval.mjs
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, openBursar, openStore } from "bursar";
import { chatModel } from "bursar/models";
import { printBillOf } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", ({ text }) => ({
  kind: "text",
  text: `${text.split(": ")[1]} is done.`,
  usage: { prompt_tokens: 300, completion_tokens: 200 },
}));

/** It does the same every time between two calls of `ctx`, so that a run can go on with the answers it had. */
const chapters = defineAgent("chapters", async (ctx, /** @type {{ titles: string[] }} */ { titles }) => {
  const written = [];
  for (const title of titles) {
    const messages = [{ role: "user", content: `Write one sentence about: ${title}` }];
    const { text } = /** @type {{ text: string }} */ (await ctx.model({ messages, max_tokens: 300 }));
    written.push(text);
  }
  return written;
});

const folder = await mkdtemp(join(tmpdir(), "bursar-example-"));
const url = `sqlite:${join(folder, "runs.db")}`;
const { model, apiKey } = provider;
const surroundings = { programs: [chapters], model: chatModel({ url: provider.url, model, apiKey }) };

console.log("Monday: the run is started.");
const monday = await openStore(url);
const first = openBursar({ store: monday, ...surroundings });
const titles = ["Tides", "Knots", "Charts", "Fog", "Home"];
const limits = { llm_tokens: 1000, cost_usd: 0.05 };
const started = await first.run(
  "chapters",
  { titles },
  { id: "book", limits, policies: { llm_tokens: "approval_required" } },
);
await first[Symbol.asyncDispose]();
await monday[Symbol.asyncDispose]();

console.log("Tuesday: somebody looks at what waits.");
const tuesday = await openStore(url);
const second = openBursar({ store: tuesday, ...surroundings });
let result = started;
for (let asked = 0; result.status === "paused" && asked < 10; asked++) {
  for await (const { id, exhausted_dimension, consumed, suggested_extension } of second.approvals()) {
    const used = exhausted_dimension === null ? null : consumed[exhausted_dimension];
    console.log(`  ${exhausted_dimension} at ${used}; suggested: ${JSON.stringify(suggested_extension)}. Approved.`);
    const by = /** @type {const} */ ({ name: "ann", role: "operator" });
    result = await second.approve(id, { by, extensions: { llm_tokens: 2000 }, reason: "the book is due" });
    break;
  }
}
console.log(`The run has ${result.status}:`);
if (result.status === "completed") for (const line of /** @type {string[]} */ (result.result)) console.log(`  ${line}`);

await printBillOf(tuesday, "book");
await second[Symbol.asyncDispose]();
await tuesday[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
await provider.close();
