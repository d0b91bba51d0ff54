// The gateway, for clients of any language: here two of them with nothing but `fetch`. Each shows a key of its own, and behind each
// key stands a budget. The provider's key stays with the gateway.
//   node examples/gateway.mjs
import { Gate, MemoryStore } from "bursar";
import { openGateway } from "bursar/gateway";
import { printBillOf } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", ({ text }) => ({
  kind: "text",
  text: `You said: ${text}`,
  usage: { prompt_tokens: 20, completion_tokens: 30 },
}));
const store = new MemoryStore();
const gate = new Gate({ store });
await gate.open("house", { limits: { cost_usd: 0.05 }, scope: "shared" });
await gate.open("alice", { limits: { steps: 3 }, parent: "house" });
await gate.open("bob", { limits: { cost_usd: 0.0002 }, parent: "house" });

const gateway = await openGateway({
  store,
  port: 0,
  upstreams: [{ name: "openai", url: provider.url, key: provider.apiKey }],
});
console.log(`The gateway listens at ${gateway.url}.`);

for (const name of ["alice", "bob"]) {
  const { secret } = await gateway.keys.create({ budget: name, label: name });
  for (let request = 1; request <= 5; request++) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: provider.model,
        max_tokens: 100,
        messages: [{ role: "user", content: `Good morning from ${name}.` }],
      }),
    });
    const left = response.headers.get("x-bursar-remaining-cost-usd");
    const refused = response.headers.get("x-bursar-refused");
    console.log(`  ${name} ${request}: ${response.status}${refused === null ? `, $${left} left` : ` ${refused}`}`);
    await response.arrayBuffer();
  }
}
for (const name of ["alice", "bob", "house"]) await printBillOf(store, name);

await gateway.close();
gate[Symbol.dispose]();
await provider.close();
