// Spends a leased budget step by step, with several callers, until nothing is left; says how much it has got.
import { LeasingStore } from "bursar/lease";
import { errand, openStore, say } from "./common.mjs";

const store = await openStore(errand.address);
const { name, log, ttl_ms, callers, most = Number.POSITIVE_INFINITY } = errand;
const leasing = await LeasingStore.open({ store, budgets: ["tenant"], name, ttl_ms, ...(log ? { log } : {}) });
say({ opened: true });

let count = 0;
let calls = 0;

/** Busy is no answer but a request to come again. */
async function caller() {
  while (count < most) {
    const call = `${name}/${calls++}`;
    const asked = { steps: 1 };
    const [{ decision }] = await leasing.apply([{ op: "reserve", budget: "tenant", call, kind: "tool", asked }]);
    if (decision.kind === "busy") await new Promise((resolve) => setTimeout(resolve, 20));
    else if (decision.kind !== "admitted") return;
    else {
      await leasing.apply([{ op: "commit", call, used: asked }]);
      count++;
      if (log || count % 500 === 0) say({ count });
    }
  }
}

await Promise.all(Array.from({ length: callers }, caller));
say({ count, done: true });
if (errand.stay) await new Promise((resolve) => process.stdin.once("data", resolve).resume());
await leasing[Symbol.asyncDispose]();
await store[Symbol.asyncDispose]();
process.exit(0);
