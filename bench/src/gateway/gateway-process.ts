import { Gate, MemoryStore, openStore } from "bursar";
import { openGateway } from "bursar/gateway";
import { tellTaken } from "./processes.js";

/* Run by bench/gateway in a process of its own: a gateway with a key and a budget, in memory or in a file. */

const [, , upstream = "", url = "memory:"] = process.argv;
const store = url === "memory:" ? new MemoryStore() : await openStore(url);
const gate = new Gate({ store });
await gate.open("bench", {
  limits: { cost_usd: 1_000_000, steps: null, wall_clock_ms: null, llm_tokens: null },
  scope: "shared",
});
const gateway = await openGateway({ store, upstreams: [{ name: "bench", url: upstream, key: "k" }] });
const { secret } = await gateway.keys.create({ budget: "bench" });
// Its one step is used.
await gate.open("used-up", { limits: { steps: 1 }, scope: "shared" });
await gate.call({ budget: "used-up", capability_id: "bench" }, async () => ({ value: null }));
const { secret: used_up } = await gateway.keys.create({ budget: "used-up" });
tellTaken();
process.send?.({ url: gateway.url, secret, used_up });
