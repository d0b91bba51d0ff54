import { fileURLToPath } from "node:url";
import { enableBranchHints, engine } from "@bursar/wasm-fuel";
import { PythonGuest, type PythonParts, type PythonState } from "../../src/python/python-guest.js";
import { baseOf, pythonImage, pythonModule } from "../../src/python/python-image.js";
import { builtPython, npmPython, type PythonManifest } from "../../src/python/python-manifest.js";
import { defaultPlaces } from "../../src/sessions/places.js";
import { ZipTree } from "../../src/wasi/zip-tree.js";
import { Memories } from "../../src/wasm/memories.js";
import type { Execution } from "../../src/wasm/outcome.js";

/** Kept from one run of the tests to the next: making an image takes seconds. */
export const CACHE = fileURLToPath(new URL("../../../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));
const PAGES = 4096;

export async function pythonParts(): Promise<PythonParts> {
  enableBranchHints();
  const manifest = await pythonAtHand();
  const image = await pythonImage(manifest, CACHE);
  const module = new engine.Module(await pythonModule(manifest, CACHE, PAGES));
  const base = baseOf(image);
  const memories = new Memories(base, image.pages, PAGES);
  return { manifest, module, image, base, stdlib: new ZipTree(image.stdlib), memories };
}

/** The guest that comes from npm, or the one that was built on this machine. */
export async function pythonAtHand(): Promise<PythonManifest> {
  if (process.env.BURSAR_GUEST === "npm") return npmPython();
  const built = await builtPython(defaultPlaces().guests);
  if (built === null) throw new Error("there is no built guest; run `npm run build:guest`, or set BURSAR_GUEST=npm");
  return built;
}

export function newGuest(parts: PythonParts, state?: PythonState): PythonGuest {
  return new PythonGuest(parts, { memoryPages: PAGES }, state);
}

/** Runs a program, and gives back what came of it with what it has written. */
export function run(guest: PythonGuest, code: string, fuel = 5_000_000_000): Execution & { out: string; err: string } {
  guest.host.stdout.clear();
  guest.host.stderr.clear();
  const execution = guest.begin({ code }, { fuel, onSlice: () => {} });
  return { ...execution, out: guest.host.stdout.text(), err: guest.host.stderr.text() };
}
