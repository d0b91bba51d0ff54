import fc from "fast-check";
import { expect, test } from "vitest";
import { engine, type WasmGlobal } from "../src/engine.js";
import { meter } from "../src/meter.js";
import { COSTS } from "../src/rewriter/costs.js";
import { PRIVATE } from "../src/rewriter/layout.js";
import { generateModule } from "./generator/module.js";
import { decode } from "./interpreter/decode.js";
import { Machine } from "./interpreter/machine.js";
import { Trap, type Value } from "./interpreter/numbers.js";
import { randomProfile, recordedEndingOf } from "./recording.js";
import { COMBINATIONS, type Ending, endingOf, hashOf, hostReply, meteredEndingOf } from "./running.js";

const PLENTY = 2 ** 52;
const DEEP = 1_000_000;

/** What the interpreter makes of a generated module, or null when it traps. */
function interpreted(wasm: Uint8Array): (Ending & { readonly consumed: number }) | null {
  const hostCalls: number[] = [];
  const host = { env: { host: (value: Value) => hostReply(Number(value), hostCalls) } };
  const machine = new Machine(decode(wasm), host, COSTS);
  try {
    const [outcome] = machine.run("main");
    return { outcome, memory: hashOf(machine.memory.bytes), hostCalls, consumed: machine.consumed };
  } catch (error) {
    if (error instanceof Trap) return null;
    throw error;
  }
}

test("generated modules are valid, run to their end, and do something", () => {
  const modules = Array.from({ length: 200 }, (_, seed) => generateModule(seed));

  for (const [seed, wasm] of modules.entries()) expect(engine.validate(wasm), `seed ${seed}`).toBe(true);

  const totals = modules.map((wasm) => interpreted(wasm)?.consumed ?? 0);
  expect(totals.filter((total) => total > 500).length).toBeGreaterThan(120);
});

test("the total is that of the cost table, with every combination of switches, with and without a bound of depth", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const wasm = generateModule(seed);
      const expected = interpreted(wasm);
      fc.pre(expected !== null);
      const { consumed, ...ending } = expected;
      expect(endingOf(wasm)).toEqual(ending);

      for (const optimise of COMBINATIONS) {
        const plain = meteredEndingOf(wasm, { optimise }, { budget: PLENTY, slice: PLENTY });
        expect(plain, JSON.stringify(optimise)).toMatchObject(ending);
        expect(plain.fuel.end(), JSON.stringify(optimise)).toBe(consumed);

        const deep = meteredEndingOf(wasm, { optimise, depth: DEEP }, { budget: PLENTY, slice: 10 });
        expect(deep, JSON.stringify(optimise)).toMatchObject(ending);
        expect(deep.fuel.end(), JSON.stringify(optimise)).toBe(consumed);
        expect((deep.instance.exports[PRIVATE.depth] as WasmGlobal).value).toBe(DEEP);
      }
    }),
    { numRuns: 40 },
  );
});

test("the total is the same with any profile: a true one, a random one, and one in which nothing ran", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer(), (seed, other) => {
      const wasm = generateModule(seed);
      const expected = interpreted(wasm);
      fc.pre(expected !== null);
      const { consumed, ...ending } = expected;
      const { profile: recorded, ...told } = recordedEndingOf(wasm);
      expect(told).toEqual(ending);

      const nothing = { levels: new Uint8Array(recorded.levels.length) };
      for (const profile of [recorded, randomProfile(recorded, other), nothing]) {
        for (const optimise of COMBINATIONS.filter(({ potentials, hints }) => potentials && hints)) {
          const options = { optimise, profile, depth: DEEP };
          const run = meteredEndingOf(wasm, options, { budget: PLENTY, slice: 10 });
          expect(run, JSON.stringify(optimise)).toMatchObject(ending);
          expect(run.fuel.end(), JSON.stringify(optimise)).toBe(consumed);
        }
      }
      // Where nothing ran, everything is guessed, as without a profile.
      expect(meter(wasm, { profile: nothing })).toEqual(meter(wasm));
    }),
    { numRuns: 40 },
  );
});
