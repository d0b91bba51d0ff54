// Asks a store whose thread is held fast by the trap, and lets go only after the event loop has turned many times. A store
// that blocked the loop would wait for itself for ever.
import { writeFileSync } from "node:fs";
import { errand, openStore, say } from "./common.mjs";

const TURNS = 200;

const store = await openStore(errand.address);
const answered = new Set();
const asked = {
  transaction: store.apply([{ op: "charge", budget: "all", call: "second", used: { steps: 1 } }]),
  budget: store.budget("all"),
  head: store.head("all"),
  goodbye: store[Symbol.asyncDispose](),
};
for (const [name, answer] of Object.entries(asked)) answer.then(() => answered.add(name));
for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
const early = [...answered];
writeFileSync(errand.go, "");
await Promise.all(Object.values(asked));
say({ early, answers: answered.size });
