// Spends from a store together with other processes: it says when it is ready, waits for `go`, and says what it got.
import { createInterface } from "node:readline";
import { Gate } from "bursar";
import { errand, openStore, randomOf, say } from "./common.mjs";

const words = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const hear = async () => (await words.next()).value;

/** Everybody wants a tenth of a dollar from the same budget, through the gate, and waits while it is busy. */
async function race(store) {
  const gate = new Gate({ store, wait_ms: 120_000 });
  const call = { budget: errand.budget, capability_id: "model", asked: { cost_usd: 0.1 } };
  const effect = async () => ({ value: null, usage: { cost_usd: 0.1 } });
  const all = await Promise.all(Array.from({ length: errand.callers }, () => gate.call(call, effect)));
  const passed = all.filter(({ kind }) => kind === "done").length;
  const waiting = all.filter(({ kind, decision }) => kind === "refused" && decision.kind === "busy").length;
  say({ passed, waiting });
}

/** Charges many budgets, several per list, in an order of its own. */
async function spread(store) {
  const random = randomOf(errand.seed);
  const lists = Array.from({ length: errand.lists }, (_, list) =>
    Array.from({ length: errand.length }, (_, at) => ({
      op: "charge",
      budget: `budget-${Math.floor(random() * errand.budgets)}`,
      call: `${errand.name}/${list}/${at}`,
      used: { cost_usd: 1 + Math.floor(random() * 1000), steps: 1 },
    })),
  );
  for (let at = 0; at < lists.length; at += 50) {
    await Promise.all(lists.slice(at, at + 50).map((list) => store.apply(list)));
  }
  const sums = {};
  for (const { budget, used } of lists.flat()) sums[budget] = (sums[budget] ?? 0) + used.cost_usd;
  say({ sums });
}

/** Charges as fast as it can until it hears `stop`, and says after each time how often it has. */
async function compete(store) {
  let stopped = false;
  void hear().then(() => {
    stopped = true;
  });
  let count = 0;
  const caller = async (name) => {
    for (let at = 0; !stopped; at++) {
      await store.apply([{ op: "charge", budget: errand.budget, call: `${name}/${at}`, used: { steps: 1 } }]);
      count++;
      say({ count });
    }
  };
  await Promise.all(Array.from({ length: errand.callers }, (_, at) => caller(`${errand.name}.${at}`)));
}

const store = await openStore(errand.address);
say({ opened: true });
await hear();
await { race, spread, compete }[errand.what](store);
await store[Symbol.asyncDispose]();
say({ done: true });
process.exit(0);
