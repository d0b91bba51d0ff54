// Asks a store whose thread is held fast by the trap, and lets go only after the event loop has turned many times. A store
// that blocked the loop would wait for itself for ever.
import { writeFileSync } from "node:fs";
import { errand, openStore, say } from "./common.mjs";

const TURNS = 200;

const store = await openStore(errand.address);
let answers = 0;
const asked = [
  store.apply([{ op: "charge", budget: "all", call: "second", used: { steps: 1 } }]),
  store.budget("all"),
  store.head("all"),
  store[Symbol.asyncDispose](),
];
for (const each of asked) each.then(() => answers++);
for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
const before = answers;
writeFileSync(errand.go, "");
await Promise.all(asked);
say({ before, answers });
