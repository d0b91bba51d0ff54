import { expect, test } from "vitest";
import { STANDARD } from "../../src/core/dimensions.js";
import type { BudgetAmounts, BudgetLimits } from "../../src/core/input.js";
import { readAmounts, readExtension } from "../../src/core/input.js";
import { askedTogether, suggestExtension } from "../../src/core/suggestion.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

/** A budget of which something is used, perhaps below another. */
async function scene(limits: BudgetLimits, used: BudgetLimits = {}, session: BudgetLimits | null = null) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const gate = new Gate({ store });
  if (session !== null) await gate.open("s", { scope: "shared", limits: session });
  await gate.open("r", { limits, ...(session !== null && { parent: "s" }) });
  const charge = { budget: "r", call: "before", capability_id: "x" } as const;
  await store.apply([{ op: "charge", ...charge, used: readAmounts(used) }]);
  const suggest = async (dimension: string, asked: number) =>
    suggestExtension(await store.path("r"), { dimension, asked }, store.dimensions, clock.now());
  const extend = (more: BudgetAmounts) => {
    const additional = readExtension(more, store.dimensions);
    return store.apply([{ op: "extend", budget: "r", additional, approved_by: "ann", reason: null, must: true }]);
  };
  return Object.assign(suggest, { extend });
}

test("half of the limit is suggested where that suffices for what was asked for, or nobody knows how much that is", async () => {
  const suggest = await scene({ llm_tokens: 1000, memory_peak_bytes: 1000 }, { llm_tokens: 900 });
  for (const asked of [0, 200, 600]) expect(await suggest("llm_tokens", asked)).toEqual({ llm_tokens: 500 });
  expect(await suggest("memory_peak_bytes", 1500)).toEqual({ memory_peak_bytes: 500 });
});

test("where it does not, what is missing comes on top of it", async () => {
  const suggest = await scene({ llm_tokens: 1000, memory_peak_bytes: 1000, steps: 0 }, { llm_tokens: 900 });
  expect(await suggest("llm_tokens", 601)).toEqual({ llm_tokens: 1100 });
  expect(await suggest("memory_peak_bytes", 9000)).toEqual({ memory_peak_bytes: 8500 });
  expect(await suggest("steps", 1)).toEqual({ steps: 1 });
});

test("but no more than a budget above has room for, as long as that is half of the limit and enough for a call", async () => {
  const session = { llm_tokens: 1800, memory_peak_bytes: 1700, storage_write_bytes: 1200 };
  const limits = { llm_tokens: 1000, memory_peak_bytes: 1000, storage_write_bytes: 1000 };
  const suggest = await scene(limits, { llm_tokens: 900, storage_write_bytes: 900 }, session);
  expect(await suggest("llm_tokens", 700)).toEqual({ llm_tokens: 900 });
  expect(await suggest("memory_peak_bytes", 1600)).toEqual({ memory_peak_bytes: 700 });
  expect(await suggest("storage_write_bytes", 600)).toEqual({ storage_write_bytes: 500 });
  expect(await suggest("storage_write_bytes", 700)).toEqual({ storage_write_bytes: 600 });
});

test("what could never be added is not suggested", async () => {
  const suggest = await scene({ fuel: 1000 });
  expect(await suggest("fuel", 9_000_000_000_000_000)).toEqual({ fuel: 8_999_999_999_999_000 });
});

test("what several ask for adds up, unless only the highest counts", () => {
  expect(askedTogether("llm_tokens", [400, 300, 0], STANDARD)).toBe(700);
  expect(askedTogether("memory_peak_bytes", [400, 700, 300], STANDARD)).toBe(700);
  expect(askedTogether("fuel", [9_000_000_000_000_000, 9_000_000_000_000_000], STANDARD)).toBe(9_000_000_000_000_000);
});

test("half of a limit that was extended is half of what it is by now, so that what grows bit by bit seldom asks", async () => {
  const suggest = await scene({ memory_peak_bytes: 1000 });
  const asked: unknown[] = [];
  for (let bytes = 1001; bytes <= 100_000; ) {
    const more = await suggest("memory_peak_bytes", bytes);
    await suggest.extend(more);
    asked.push(more.memory_peak_bytes);
    bytes += more.memory_peak_bytes ?? 0;
  }
  expect(asked.slice(0, 4)).toEqual([500, 750, 1125, 1688]);
  expect(asked.length).toBe(12);
});

test("it is no more than a budget above has room for, as long as that is half of the first limit", async () => {
  const suggest = await scene({ llm_tokens: 1000 }, { llm_tokens: 1000 }, { llm_tokens: 1800 });
  await suggest.extend(await suggest("llm_tokens", 1));
  expect(await suggest("llm_tokens", 501)).toEqual({ llm_tokens: 750 });
  await suggest.extend({ llm_tokens: 500 });
  expect(await suggest("llm_tokens", 1001)).toEqual({ llm_tokens: 800 });
});
