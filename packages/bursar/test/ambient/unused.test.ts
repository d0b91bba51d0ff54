import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const FOLDER = fileURLToPath(new URL("../..", import.meta.url));

/** A program that imports the package by its name, with a scripted provider; what it says to standard error. */
function said(body: string, ...flags: readonly string[]): string {
  const code = `
import { openBudget, withBudget, Gate, MemoryStore } from "bursar";
import { governedFetch } from "bursar/fetch";
import { openScriptedModel } from "bursar/testing";
const model = await openScriptedModel({ script: () => ({ kind: "text", text: "Hi" }), models: ["gpt-4.1"] });
const ask = (send, name = "gpt-4.1") => send(model.url + "/chat/completions", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: name, max_tokens: 10, messages: [{ role: "user", content: "Hello?" }] }),
});
${body}
await model[Symbol.asyncDispose]();`;
  const args = [...flags, "--input-type=module", "-e", code];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: FOLDER, encoding: "utf8", timeout: 60_000 });
  return status === 0 ? stderr : `failed: ${stderr}`;
}

const times = (text: string) => text.split("BURSAR_UNUSED_BUDGET").length - 1;

describe("a budget that ends without one governed call warns once, and says what to pass", () => {
  test.for([
    ["withBudget", "await withBudget({ steps: 0 }, () => ask(fetch));"],
    ["withBudget, again and again", "for (let i = 0; i < 3; i++) await withBudget({ steps: 0 }, () => ask(fetch));"],
    ["withBudget whose answer is streamed", "await (await withBudget({ steps: 0 }, () => ask(fetch))).text();"],
    ["openBudget", "const b = await openBudget({ steps: 1 }); await b.run(() => ask(fetch)); await b.end();"],
    ["one that lies in another", "await withBudget({ steps: 9 }, () => withBudget({ steps: 1 }, () => ask(fetch)));"],
  ] as const)("%s", ([, body]) => {
    const text = said(`${body}\nawait new Promise((resolve) => setTimeout(resolve, 50));`);
    expect(times(text)).toBe(1);
    expect(text).toContain("BursarWarning");
    expect(text).toContain("fetch: governedFetch()");
  });

  test("unless that is switched off", () => {
    expect(said("await withBudget({ steps: 0 }, () => ask(fetch));", "--disable-warning=BURSAR_UNUSED_BUDGET")).toBe(
      "",
    );
  });
});

describe("nothing is said where it was used", () => {
  test.for([
    ["by a call", "await withBudget({ steps: 1 }, () => ask(governedFetch()));"],
    ["by a call that was refused", "await withBudget({ steps: 0 }, () => ask(governedFetch()));"],
    ["by one without a price", 'await withBudget({ steps: 1, cost_usd: 1 }, () => ask(governedFetch(), "mine"));'],
    ["by one that was given it", "await withBudget({ steps: 0 }, (budget) => ask(governedFetch({ budget })));"],
    [
      "by a call at a gate",
      `const store = new MemoryStore(); const gate = new Gate({ store });
       await withBudget({ steps: 2 }, ({ id }) => gate.call({ budget: id, capability_id: "mine", asked: { steps: 1 } }, () => 1), { store });`,
    ],
    [
      "by one in another budget inside of it",
      "await withBudget({ steps: 9 }, () => withBudget({ steps: 1 }, () => ask(governedFetch())));",
    ],
    [
      "or could not be, because the function failed",
      "await withBudget({ steps: 1 }, () => { throw new Error(); }).catch(() => {});",
    ],
  ] as const)("%s", ([, body]) => {
    expect(said(`${body}\nawait new Promise((resolve) => setTimeout(resolve, 50));`)).toBe("");
  });
});
