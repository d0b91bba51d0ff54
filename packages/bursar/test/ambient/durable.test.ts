import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "bursar";
import { expect, test } from "vitest";
import { openBudget } from "../../src/ambient/open-budget.js";
import { ASK, openScene, READ } from "../models/fetch/scene.js";

test("two stores on one file share a budget of one name, and never pass it together", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-"));
  try {
    let given = 0;
    await using at = await openScene(
      ({ max_tokens }) => {
        const usage = { prompt_tokens: 30, completion_tokens: Math.min(70, max_tokens ?? 70) };
        given += usage.prompt_tokens + usage.completion_tokens;
        return { kind: "text", text: "Hello.", usage, latency_ms: 1 };
      },
      { maxRetries: 0 },
    );
    await using first = await openStore(`sqlite:${join(folder, "budgets.db")}`);
    await using second = await openStore(`sqlite:${join(folder, "budgets.db")}`);
    const limits = { llm_tokens: 2000 };
    const one = await openBudget(limits, { store: first, name: "shared", wait_ms: 5000 });
    const other = await openBudget(limits, { store: second, name: "shared", wait_ms: 5000 });
    await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? one : other).run(() => (index % 3 === 0 ? READ.messages(at) : ASK.chat(at))),
      ),
    );
    const { used, held } = await other.state();
    expect(used.llm_tokens).toBe(given);
    expect(given).toBeLessThanOrEqual(2000);
    expect(at.model.count).toBeGreaterThan(10);
    expect(held).toEqual({});
    await one.end();
    await other.end();
    expect((await first.budget("shared"))?.ended).toBe(true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
