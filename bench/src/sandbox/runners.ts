import { readFile } from "node:fs/promises";
import { enableBranchHints, engine } from "@bursar/wasm-fuel";
import { JavaScriptGuest } from "../../../packages/sandbox/dist/javascript/guest.js";
import { createImage } from "../../../packages/sandbox/dist/javascript/image.js";
import {
  compileQuickjs,
  meterQuickjs,
  SMALL_STACK,
} from "../../../packages/sandbox/dist/javascript/metered-quickjs.js";
import { quickjsOf } from "../../../packages/sandbox/dist/javascript/quickjs-manifest.js";
import { PythonGuest, type PythonParts } from "../../../packages/sandbox/dist/python/python-guest.js";
import { npmPython, type PythonManifest } from "../../../packages/sandbox/dist/python/python-manifest.js";
import { Output } from "../../../packages/sandbox/dist/wasi/output.js";
import { Vfs } from "../../../packages/sandbox/dist/wasi/vfs.js";
import type { Outcome } from "../../../packages/sandbox/dist/wasm/outcome.js";
import { fastPython, GUESTS, PAGES, pythonParts } from "./python-parts.js";
import { unmetered } from "./unmetered.js";

export interface Ran {
  readonly output: string;
  readonly fuel: number;
}

/** A guest that lives on from one program to the next. */
interface Runner {
  run(code: string): Promise<Ran>;
}

/** Two guests that do the same work. */
export interface Runners {
  readonly baseline: Runner;
  readonly compared: Runner;
}

const FUEL = 1e12;
const OUTPUT_BYTES = 64 * 1024;
const LONGEST_MS = 600_000;
const WASM_PAGES = 65_536;

/** One guest twice: with the code as its compiler left it, and metered. Metering changes nothing in its memory, so both have the same image. */
export async function pythonRunners(manifest: PythonManifest = npmPython()): Promise<Runners> {
  const parts = await pythonParts(manifest);
  const expose = [
    { name: "__indirect_function_table", kind: "table", index: 0 },
    { name: "__stack_pointer", kind: "global", index: manifest.stackPointer },
  ] as const;
  const plain = unmetered(await readFile(manifest.wasm), { maximumPages: PAGES, dropData: true, expose });
  // The module as it is has a memory of its own.
  const { memories: _, ...own } = parts;
  return {
    baseline: pythonRunner({ ...own, module: new engine.Module(plain) }),
    compared: pythonRunner(parts),
  };
}

/** The fast guest, metered or not. */
export async function fastRunners(): Promise<Runners> {
  return pythonRunners(await builtOrNothing());
}

/** The guest on npm and the fast one, both metered, as programs meet them. */
export async function guestRunners(): Promise<Runners> {
  const fast = await builtOrNothing();
  return { baseline: pythonRunner(await pythonParts()), compared: pythonRunner(await pythonParts(fast)) };
}

async function builtOrNothing(): Promise<PythonManifest> {
  const fast = await fastPython();
  if (fast === null) throw new Error(`there is no fast guest in ${GUESTS}; npm run build:guest makes one`);
  return fast;
}

function pythonRunner(parts: PythonParts): Runner {
  const guest = new PythonGuest(parts, { memoryPages: PAGES });
  return {
    async run(code) {
      guest.host.stdout.clear();
      const { outcome, fuel_consumed } = guest.begin({ code }, { fuel: FUEL, onSlice: onSlice() });
      checkEnded(outcome, guest.host.stderr.text());
      return { output: guest.host.stdout.text(), fuel: fuel_consumed };
    },
  };
}

export async function javascriptRunners(): Promise<Runners> {
  enableBranchHints();
  const wasm = quickjsOf();
  const runner = (module: Uint8Array): Runner => {
    const files = new Vfs();
    files.mkdir("/app");
    const guest = JavaScriptGuest.create(createImage(compileQuickjs(module, SMALL_STACK)), { files });
    return {
      async run(code) {
        const [stdout, stderr] = [new Output(OUTPUT_BYTES), new Output(OUTPUT_BYTES)];
        const { outcome, fuel_consumed } = await guest.execute(code, {
          fuel: FUEL,
          onSlice: onSlice(),
          stdout,
          stderr,
        });
        checkEnded(outcome, stderr.text());
        return { output: stdout.text(), fuel: fuel_consumed };
      },
    };
  };
  return {
    baseline: runner(unmetered(wasm, { maximumPages: WASM_PAGES })),
    compared: runner(meterQuickjs(wasm, SMALL_STACK)),
  };
}

/** What a session does after every slice: it looks whether its time is over. */
function onSlice(): () => void {
  const deadline = performance.now() + LONGEST_MS;
  return () => {
    if (performance.now() > deadline) throw new Error("a workload did not end");
  };
}

function checkEnded(outcome: Outcome, stderr: string): void {
  if (outcome.kind === "ended" && outcome.exit_code === 0) return;
  throw new Error(`a workload failed: ${JSON.stringify(outcome)}\n${stderr}`);
}
