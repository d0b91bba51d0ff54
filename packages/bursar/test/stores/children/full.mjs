// Writes to a file until there is no room left, waits until there is again, and goes on with the same store.
import { rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { sha256Hex, verifyChain } from "bursar";
import { errand, faultOf, openStore, say } from "./common.mjs";

const { address, ballast } = errand;
if (ballast !== undefined) writeFileSync(ballast.file, Buffer.alloc(ballast.bytes));
const store = await openStore(address);
const opening = { id: "all", scope: "shared", grant: { kind: "limits", limits: {} } };
await store.apply([{ op: "open", parent: null, opening }]);

let charged = 0;
const charge = async () => {
  const operation = { op: "charge", budget: "all", call: `call-${charged}`, used: { steps: 1 } };
  await store.apply([operation, { op: "journal", run: "run", key: operation.call, entry: { text: "x".repeat(2000) } }]);
  charged++;
};

/** Counted, in the chain, and in the journal: all of them, or something is lost. */
async function check() {
  const head = await store.head("all");
  const { ok } = await verifyChain(store.chain("all"), { hash: sha256Hex, head });
  let entries = 0;
  for await (const _ of store.journal("run")) entries++;
  const { used } = await store.budget("all");
  return { charged, verified: ok, links: head.seq, used: used.steps, entries };
}

const faults = [];
while (faults.length < 3) {
  await charge().catch((error) => faults.push(faultOf(error)));
  if (charged > 100_000) throw new Error("it never gets full");
}
const before = await check().catch(faultOf);
say({ faults, before });
if (ballast !== undefined) rmSync(ballast.file);
else for await (const _ of createInterface({ input: process.stdin })) break;
for (let more = 0; more < 20; more++) await charge();
say({ after: await check() });
await store[Symbol.asyncDispose]();
await errand.end?.();
process.exit(0);
