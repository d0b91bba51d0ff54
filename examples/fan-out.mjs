// Many children at once, below one budget. Each gets a part of what is left, which is held for it; what it does not use goes back.
// Together they can never use more than their parent has, however they race.
//   node examples/fan-out.mjs
import { defineAgent, MemoryStore, openBursar } from "bursar";
import { chatModel } from "bursar/models";
import { printBillOf } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", ({ text }) => ({
  kind: "text",
  text: `${text.split(" ").at(-1)} it is.`,
  usage: { prompt_tokens: 50, completion_tokens: 40 },
}));

/** More than one answer can take: no text has more tokens than bytes, and this one is short. */
const MOST = 250;

/** Asks for as long as its own budget has enough for one more answer. */
const scout = defineAgent("scout", async (ctx, /** @type {{ place: string }} */ { place }) => {
  let answers = 0;
  for (; answers < 20; answers++) {
    const { remaining } = await ctx.budget();
    if (Number(remaining.llm_tokens) < MOST) break;
    await ctx.model({ messages: [{ role: "user", content: `Something new about ${place}` }], max_tokens: 60 });
  }
  return `${place}: ${answers} answers`;
});

const lead = defineAgent("lead", async (ctx, /** @type {{ places: string[] }} */ { places }) => {
  const children = places.map((place) => ctx.spawn("scout", { place }, { fraction: 0.3 }));
  return Promise.all(children);
});

const store = new MemoryStore();
const bursar = openBursar({
  store,
  programs: [lead, scout],
  model: chatModel({ url: provider.url, model: provider.model, apiKey: provider.apiKey }),
});
const limits = { llm_tokens: 3000, cost_usd: 0.02, steps: 60 };
const places = ["Riga", "Turku", "Visby", "Lund", "Narva"];
const result = await bursar.run("lead", { places }, { id: "lead", limits, policies: { llm_tokens: "hard_stop" } });
console.log(`lead has ${result.status}:`, result.status === "completed" ? result.result : result);
await printBillOf(store, "lead", "The budget above all of them:");
await bursar[Symbol.asyncDispose]();
await provider.close();
