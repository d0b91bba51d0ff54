// Python that nobody trusts, in the sandbox: it asks a model and a tool through `host`, burns counted fuel, and cannot reach anything
// else. The second program never ends; its fuel does.
//   node examples/python-sandbox.mjs
import { openSandbox } from "@bursar/sandbox";
import { defineTool, guestProgram, MemoryStore, openBursar } from "bursar";
import { chatModel } from "bursar/models";
import { printBillOf } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const SURVEY = `
given = await host.call("input", {})
rows = await host.tool("measurements", {"river": given["river"]})
mean = sum(rows) / len(rows)
print(f"{len(rows)} rows, mean {mean:.1f}")
try:
    open("/etc/passwd")
except OSError as error:
    print("no way out:", type(error).__name__)
answer = await host.llm({"messages": [{"role": "user", "content": f"The mean level is {mean:.1f} m. Comment in one sentence."}]})
await host.call("result", {"mean": mean, "comment": answer["text"]})
`;
const ENDLESS = `
count = 0
while True:
    count += 1
`;

const provider = await openProvider("openai", () => ({
  kind: "text",
  text: "That is calm water.",
  usage: { prompt_tokens: 60, completion_tokens: 12 },
}));
const measurements = defineTool({
  name: "measurements",
  description: "The levels of a river, in metres.",
  input: { type: "object", properties: { river: { type: "string" } }, required: ["river"] },
  quote: { cost_usd: 0.001 },
  run: () => [2.1, 2.4, 2.2, 2.5],
});

const sandbox = await openSandbox();
const source = /** @type {const} */ ({ language: "python", packages: [], memory_bytes: 128 * 1024 * 1024 });
const store = new MemoryStore();
const bursar = openBursar({
  store,
  programs: [
    guestProgram("survey", { ...source, code: SURVEY }, async () => sandbox),
    guestProgram("endless", { ...source, code: ENDLESS }, async () => sandbox),
  ],
  tools: [measurements],
  model: chatModel({ url: provider.url, model: provider.model, apiKey: provider.apiKey }),
});

const limits = { steps: 5, cost_usd: 0.01, fuel: 3_000_000_000 };
const survey = await bursar.run("survey", { river: "Elbe" }, { id: "survey", limits });
process.stdout.write(survey.output.stdout);
console.log(`survey has ${survey.status}:`, survey.status === "completed" ? survey.result : survey);
await printBillOf(store, "survey");

const endless = await bursar.run("endless", {}, { id: "endless", limits: { fuel: 500_000_000 } });
console.log(`\nendless has ${endless.status}: ${endless.status === "failed" ? endless.failure.message : ""}`);
await printBillOf(store, "endless");

await bursar[Symbol.asyncDispose]();
await sandbox[Symbol.asyncDispose]();
await provider.close();
