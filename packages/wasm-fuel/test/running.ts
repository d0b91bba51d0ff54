import { createHash } from "node:crypto";
import { engine, type WasmInstance, type WasmMemory } from "../src/engine.js";
import { Fuel, type FuelOptions } from "../src/fuel.js";
import { type MeterOptions, meter } from "../src/meter.js";
import type { Optimisations } from "../src/rewriter/plan.js";

/** How a run of a generated module ended, as far as the guest can be told from outside. */
export interface Ending {
  readonly outcome: unknown;
  readonly memory: string;
  readonly hostCalls: readonly number[];
}

const SWITCHES = ["potentials", "fold", "regions", "cut", "hints"] as const satisfies readonly (keyof Optimisations)[];

/** Every combination of the switches. */
export const COMBINATIONS: readonly Optimisations[] = Array.from({ length: 2 ** SWITCHES.length }, (_, bits) => {
  const [potentials, fold, regions, cut, hints] = SWITCHES.map((_name, index) => (bits & (1 << index)) !== 0);
  return {
    potentials: potentials === true,
    fold: fold === true,
    regions: regions === true,
    cut: cut === true,
    hints: hints === true,
  };
});

/** Instantiates a generated module; `host` is what `env.host` does. */
export function instantiate(wasm: Uint8Array, host: (value: number) => number): WasmInstance {
  return new engine.Instance(new engine.Module(wasm), { env: { host } });
}

export function exportedFunction(instance: WasmInstance, name: string): (...args: unknown[]) => unknown {
  return instance.exports[name] as (...args: unknown[]) => unknown;
}

/** Runs `main` to its end, whatever that is. */
export function endingOf(
  wasm: Uint8Array,
  prepare: (instance: WasmInstance) => void = () => {},
  onHostCall: () => void = () => {},
): Ending {
  const hostCalls: number[] = [];
  const instance = instantiate(wasm, (value) => {
    onHostCall();
    return hostReply(value, hostCalls);
  });
  prepare(instance);
  let outcome: unknown;
  try {
    outcome = exportedFunction(instance, "main")();
  } catch (error) {
    outcome = error;
  }
  return { outcome, memory: hashOf(new Uint8Array((instance.exports.memory as WasmMemory).buffer)), hostCalls };
}

export function hostReply(value: number, calls: number[]): number {
  calls.push(value);
  return (value * 3 + 1) | 0;
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface MeteredEnding extends Ending {
  readonly fuel: Fuel;
  readonly instance: WasmInstance;
  /** What was counted at each call of the host. */
  readonly counts: readonly number[];
}

/** The same with fuel. */
export function meteredEndingOf(wasm: Uint8Array, options: MeterOptions, fuelOptions: FuelOptions): MeteredEnding {
  const bound: [Fuel, WasmInstance][] = [];
  const counts: number[] = [];
  const ending = endingOf(
    meter(wasm, options),
    (instance) => {
      const fuel = new Fuel(instance);
      bound.push([fuel, instance]);
      fuel.begin(fuelOptions);
    },
    () => counts.push(bound[0]?.[0].counted ?? 0),
  );
  const [first] = bound;
  if (first === undefined) throw new Error("no fuel was bound");
  return { ...ending, counts, fuel: first[0], instance: first[1] };
}
