// Drives a run whose model calls can wait, as a worker does, until it has ended or this process is killed.
import { defineAgent, openBursar, openStore, Worker } from "bursar";
import { openBatches } from "bursar/models";

const [, , path, provider, url] = process.argv;
const patient = defineAgent("patient", async (ctx) => {
  const ask = (prompt) => ctx.model({ prompt, max_tokens: 50 }, { wait: true });
  const first = await Promise.all(["one", "two", "three"].map(ask));
  const last = await ask(first.map(({ text }) => text.slice(-3)).join(" "));
  return last.text;
});
const store = await openStore(path);
const batches = openBatches({
  store,
  provider,
  url,
  model: "small",
  price_factor: 0.5,
  window_ms: 100,
  poll_ms: 50,
  longest_poll_ms: 100,
  timeout_ms: 300,
  doubt_ms: 1500,
  prices: { small: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } },
});
const told = (run) => run.status === "completed" && process.send({ result: run.result }, () => process.exit(0));
const bursar = openBursar({ store, batches, programs: [patient], claim_ms: 900, changed: told });
const limits = { cost_usd: 1, llm_tokens: null, wall_clock_ms: null };
const run = await bursar.start("patient", null, { id: "r", limits });
if (run.status === "completed") told(run);
new Worker({ bursar, every_ms: 50, failed: (error) => console.error(error) }).start();
