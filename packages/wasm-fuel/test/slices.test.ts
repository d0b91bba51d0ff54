import fc from "fast-check";
import { expect, test } from "vitest";
import { OutOfFuel } from "../src/fuel-errors.js";
import { loopModule } from "./generator/loop.js";
import { generateModule } from "./generator/module.js";
import { randomProfile, recordedEndingOf } from "./recording.js";
import { COMBINATIONS, meteredEndingOf } from "./running.js";

const PLENTY = 2 ** 52;

test("where the fuel ends does not depend on the size of the slices", () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat({ max: 999 }), fc.constantFrom(...COMBINATIONS), (seed, permille, optimise) => {
      const wasm = generateModule(seed);
      const profile = permille % 2 === 0 ? null : randomProfile(recordedEndingOf(wasm).profile, seed);
      const options = { optimise, profile, depth: 1_000_000 };
      const total = meteredEndingOf(wasm, options, { budget: PLENTY }).fuel.end();
      const budget = Math.floor((total * permille) / 1000);
      const [first, ...others] = [PLENTY, 100_000, 777, 10, 1].map((slice) => {
        const { fuel, instance: _, ...ending } = meteredEndingOf(wasm, options, { budget, slice });
        return { ...ending, counted: fuel.counted, consumed: fuel.consumed, outcome: plainly(ending.outcome) };
      });

      for (const other of others) expect(other).toEqual(first);
      if (first?.outcome instanceof Object) expect(first.consumed).toBe(budget);
    }),
    { numRuns: 150 },
  );
});

/** An error as a value that can be compared. */
function plainly(outcome: unknown): unknown {
  if (!(outcome instanceof Error)) return outcome;
  expect(outcome).toBeInstanceOf(OutOfFuel);
  return outcome instanceof OutOfFuel ? { budget: outcome.budget, consumed: outcome.consumed } : null;
}

test("nor does it where loops that call nothing move memory, for any budget", () => {
  const round = [0x41, 0, 0x41, 7, 0x41, 40, 0xfc, 11, 0, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41, 6, 0x48, 0x0d, 0];
  const wasm = loopModule(round);
  const total = meteredEndingOf(wasm, {}, { budget: PLENTY }).fuel.end();

  for (let budget = 0; budget <= total; budget += 1) {
    const places = [PLENTY, 7, 1].map((slice) => meteredEndingOf(wasm, {}, { budget, slice }).fuel.counted);
    expect(new Set(places).size, `budget ${budget}`).toBe(1);
  }
});

test("a budget of the total is enough, unless the count runs ahead, and then it lacks little", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const wasm = generateModule(seed);
      const total = meteredEndingOf(wasm, {}, { budget: PLENTY }).fuel.end();
      const { fuel, outcome } = meteredEndingOf(wasm, {}, { budget: total });
      if (!(outcome instanceof Error)) expect(fuel.end()).toBe(total);

      const generous = meteredEndingOf(wasm, {}, { budget: total + 20_000 });
      expect(generous.outcome).not.toBeInstanceOf(Error);
    }),
    { numRuns: 60 },
  );
});

test("a run that went over its budget after its last look at the fuel does not end well", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 40 }), (seed, lack) => {
      const wasm = generateModule(seed);
      const total = meteredEndingOf(wasm, {}, { budget: PLENTY }).fuel.end();
      fc.pre(total >= lack);
      const { fuel, outcome } = meteredEndingOf(wasm, {}, { budget: total - lack });

      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(OutOfFuel);
      else expect(() => fuel.end()).toThrow(OutOfFuel);
      expect(fuel.consumed).toBe(total - lack);
    }),
    { numRuns: 60 },
  );
});
