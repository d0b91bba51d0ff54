import { readFileSync } from "node:fs";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { verifyChain } from "../../src/chain.js";
import { BudgetContext } from "../../src/runtime/context.js";

/** Everything a module imports, and what that imports, by its address. */
function imported(address: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(address.href)) return seen;
  seen.add(address.href);
  const { module } = parseSync(address.pathname, readFileSync(address, "utf8"));
  const asked = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
  ];
  for (const request of asked) {
    if (request.startsWith(".")) imported(new URL(request, address), seen);
    else seen.add(request);
  }
  return seen;
}

test("a browser can load bursar/chain: it imports nothing but pure modules", () => {
  const all = [...imported(new URL("../../dist/chain.js", import.meta.url))];

  expect(all.length).toBeGreaterThan(5);
  expect(all.filter((each) => !each.includes("/dist/chain.js") && !each.includes("/dist/core/chain/"))).toEqual([]);
});

test("a chain verifies with the browser's own hash, and a changed one does not", async () => {
  const hash = async (text: string) => {
    const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const context = new BudgetContext({ limits: { steps: 2 } });
  const check = context.checkPreCall();
  if (check.proceed) context.recordConsumption(check.call_id);
  context.complete();

  expect(await verifyChain(context.chain, { hash })).toMatchObject({ ok: true });
  const changed = context.chain.map((line) => line.replace('"steps":1', '"steps":0'));
  expect(await verifyChain(changed, { hash })).toMatchObject({ ok: false, reason: "hash_mismatch" });
});
