import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryStore, type Operation } from "bursar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../../src/mcp/execution.js";
import { Workplace } from "../../src/mcp/workplace.js";
import { openTestSandbox } from "./stage.js";

/** Empty, so that the interpreter has to be made, which is seen in it. */
let cacheFolder: string;

beforeAll(() => {
  cacheFolder = mkdtempSync(join(tmpdir(), "bursar-clock-"));
});
afterAll(() => rmSync(cacheFolder, { recursive: true, force: true }));

/** What was in the folder whenever the clock of the budget began to run. */
class WatchedStore extends MemoryStore {
  readonly seen: (readonly string[])[] = [];

  override apply(operations: readonly Operation[]): ReturnType<MemoryStore["apply"]> {
    if (operations.some(({ op }) => op === "resume")) this.seen.push(made());
    return super.apply(operations);
  }
}

const made = () => readdirSync(cacheFolder, { recursive: true, encoding: "utf8" }).sort();

test.each([
  ["javascript", undefined, "console.log(1)"],
  // Its module is made for the memory that a session may take.
  ["python", 64, "print(1)"],
] as const)("the clock does not run while %s is started", async (language, memory_limit_mib, code) => {
  await using sandbox = await openTestSandbox({ cacheFolder, isolation: "thread" });
  const store = new WatchedStore();
  await using workplace = new Workplace({
    store,
    sandbox: async () => sandbox,
    packagesFolder: "/nonexistent",
    name: "mcp:test",
  });
  const session = await workplace.sessions.create({ language, memory_limit_mib });
  const { signal } = new AbortController();
  const wish = { code, fuel: 1_000_000_000, timeout_ms: 60_000, signal, onOutput: () => {} };
  expect((await execute(workplace, session, wish)).result.stdout).toBe("1\n");
  const all = made();
  expect(all.length).toBeGreaterThan(0);
  expect(store.seen).toEqual([all]);
});
