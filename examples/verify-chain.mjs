// Everything a budget decides is in a chain. Here one is written to a file, its head is signed, and somebody who trusts nobody
// verifies both; then one figure in the file is changed, then its end is cut off, and both are found out.
//   node examples/verify-chain.mjs
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ed25519, headSigner, openBudget, sha256Hex, signHead, verifyChain, verifyHead } from "bursar";
import { governedFetch } from "bursar/fetch";
import OpenAI from "openai";
import { printBill } from "./bill.mjs";
import { openProvider } from "./provider.mjs";

const provider = await openProvider("openai", () => ({
  kind: "text",
  text: "Noted.",
  usage: { prompt_tokens: 25, completion_tokens: 5 },
}));
const client = new OpenAI({ ...provider.client, fetch: governedFetch() });

// Whoever has the budget calls a model, and hands out a file and a signed head.
const budget = await openBudget({ cost_usd: 0.01, steps: 5 }, { name: "evidence" });
for (const input of ["One.", "Two.", "Three."]) {
  await budget.run(() => client.responses.create({ model: provider.model, input, max_output_tokens: 50 }));
}
printBill("Used:", await budget.state());
await budget.end();
const lines = [];
for await (const line of budget.chain()) lines.push(line);
const folder = await mkdtemp(join(tmpdir(), "bursar-example-"));
const file = join(folder, "evidence.jsonl");
await writeFile(file, `${lines.join("\n")}\n`);
const head = await budget.purse.store.head(budget.purse.chain);
if (head === null) throw new Error("the chain is empty");
const keys = ed25519.generateKeyPair();
const signed = await signHead(head, Date.now(), headSigner(keys.privateKey));

// Whoever doubts it has the file, the signed head, and the public key from elsewhere.
const checked = await verifyHead(signed, { publicKeys: [keys.publicKey], verify: ed25519.verify });
if (!checked.ok) throw new Error(checked.message);
const read = (await readFile(file, "utf8")).trimEnd().split("\n");

/** @param {string} what @param {readonly string[]} given */
async function judge(what, given) {
  const verification = await verifyChain(given, { hash: sha256Hex, head: signed });
  console.log(
    `${what}: ${verification.ok ? `${verification.links} links, and nothing was changed` : verification.message}`,
  );
}

console.log();
await judge("As it was written", read);
await judge(
  "With one figure changed",
  read.map((line, at) => (at === 2 ? line.replace(/"cost_usd":[\d.e-]+/, '"cost_usd":0') : line)),
);
await judge("Without its last link", read.slice(0, -1));
await rm(folder, { recursive: true });
await provider.close();
