import { expect, test } from "vitest";
import type { Hold } from "../../src/runtime/purse.js";
import { leaveHold, takeHold } from "../../src/runtime/waiting-holds.js";
import { MemoryStore } from "../../src/stores/memory.js";

const hold = (): Hold => ({ handDown: async () => {} });

test("holds are taken once, oldest first, by budget, model and leaver", () => {
  const store = new MemoryStore();
  const [first, second, other] = [hold(), hold(), hold()];
  const there = { store, budget: "b", model: "m", leaver: null };
  leaveHold(there, { hold: first, round: null });
  leaveHold(there, { hold: second, round: null });
  leaveHold({ ...there, leaver: "me" }, { hold: other, round: null });

  expect(takeHold(there)?.hold).toBe(first);
  expect(takeHold(there)?.hold).toBe(second);
  expect(takeHold(there)).toBeNull();
  const mine = { ...there, leaver: "me" };
  for (const elsewhere of [{ budget: "c" }, { model: "n" }, { leaver: "you" }, { store: new MemoryStore() }]) {
    expect(takeHold({ ...mine, ...elsewhere })).toBeNull();
  }
  expect(takeHold(mine)?.hold).toBe(other);
});

test("one that is disposed is not taken, and disposing it late takes nobody else's away", () => {
  const store = new MemoryStore();
  const [first, second] = [hold(), hold()];
  const there = { store, budget: "b", model: "m", leaver: null };
  const left = leaveHold(there, { hold: first, round: null });
  left[Symbol.dispose]();
  expect(takeHold(there)).toBeNull();

  leaveHold(there, { hold: second, round: null });
  left[Symbol.dispose]();
  expect(takeHold(there)?.hold).toBe(second);
});
