// Opens a store and writes to it once, and says how that went.
import { faultOf, openStore, say, task } from "./common.mjs";

try {
  const store = await openStore(task.address);
  try {
    await store.apply([{ op: "charge", budget: "all", call: task.call, used: { steps: 1 } }]);
    say({ done: true });
  } finally {
    await store[Symbol.asyncDispose]();
  }
} catch (error) {
  say({ fault: faultOf(error) });
}
