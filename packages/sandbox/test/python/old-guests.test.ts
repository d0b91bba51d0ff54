import { expect, test } from "vitest";
import type { PythonGuest } from "../../src/python/python-guest.js";
import { newGuest, pythonParts, run } from "./parts.js";

const parts = await pythonParts();
const MORE = { fuel: 5_000_000_000, onSlice: () => {} };
/** Each asks the host the same again and again: first for itself, then through an event loop. */
const PROGRAMS = [
  'while True:\n    await host.tool("echo", {})\n',
  `import asyncio

async def one():
    return await host.tool("echo", {})

async def main():
    while True:
        await asyncio.gather(one())

asyncio.run(main())
`,
];
const YOUNG = 1500;
const OLD = 4500;
/** A number is not written in exactly as many instructions as another, nor is all garbage collected at the same step. */
const ODDS = 5000;

test.each(PROGRAMS)("a guest that has asked thousands of times is no larger and no slower for it: %j", (code) => {
  const guest = newGuest(parts);
  run(guest, code);
  const young = asked(guest, 1, YOUNG);
  const old = asked(guest, YOUNG + 1, OLD);
  expect(old.bytes).toBe(young.bytes);
  expect(old.memory).toBe(young.memory);
  expect(Math.abs(old.fuel - young.fuel)).toBeLessThan(ODDS);
});

test("a C library that starts again with every request finds nothing that it would keep once more", () => {
  const { env, descriptors } = parts.image.host;
  expect(env).toEqual({});
  expect(descriptors.filter(({ preopen }) => preopen !== null)).toEqual([]);
});

/** Answers these questions, and tells what saving the guest would take then, and what the last answer took. */
function asked(guest: PythonGuest, from: number, to: number): { bytes: number; memory: number; fuel: number } {
  let fuel = 0;
  for (let id = from; id <= to; id++) {
    const { outcome, fuel_consumed } = guest.resume({ id, value: "yes" }, MORE);
    if (outcome.kind !== "pending") throw new Error(`question ${id} came to an end: ${guest.host.stderr.text()}`);
    fuel = fuel_consumed;
  }
  const { pages } = guest.save({ memory: true });
  return { bytes: pages?.bytes.length ?? 0, memory: pages?.size ?? 0, fuel };
}
