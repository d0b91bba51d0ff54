// Opens a store and writes to it once, and says how that went.
import { errand, faultOf, openStore, say } from "./common.mjs";

try {
  const store = await openStore(errand.address);
  try {
    const charge = { op: "charge", budget: "all", call: errand.call, used: { steps: 1 } };
    await store.apply(errand.operations ?? [charge]);
    say({ done: true });
  } finally {
    await store[Symbol.asyncDispose]();
  }
} catch (error) {
  say({ fault: faultOf(error) });
}
