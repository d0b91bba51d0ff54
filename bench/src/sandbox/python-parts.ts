import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { enableBranchHints, engine } from "@bursar/wasm-fuel";
import type { PythonParts } from "../../../packages/sandbox/dist/python/python-guest.js";
import { baseOf, pythonImage, pythonModule } from "../../../packages/sandbox/dist/python/python-image.js";
import { builtPython, npmPython, type PythonManifest } from "../../../packages/sandbox/dist/python/python-manifest.js";
import { defaultPlaces } from "../../../packages/sandbox/dist/sessions/places.js";
import { ZipTree } from "../../../packages/sandbox/dist/wasi/zip-tree.js";
import { Memories } from "../../../packages/sandbox/dist/wasm/memories.js";

/** Kept from one bench to the next: making an image takes seconds, and is not what is measured. */
export const CACHE: string = fileURLToPath(new URL("../../../node_modules/.cache/bursar-bench", import.meta.url));
/** Of vendored packages there are none. */
export const PACKAGES: string = join(CACHE, "packages");
/** As many pages as a session has by default. */
export const PAGES = 4096;

/** What sessions share, as the sandbox itself makes it. */
export async function pythonParts(manifest: PythonManifest = npmPython()): Promise<PythonParts> {
  enableBranchHints();
  const image = await pythonImage(manifest, CACHE);
  const module = new engine.Module(await pythonModule(manifest, CACHE, PAGES));
  const base = baseOf(image);
  const memories = new Memories(base, image.pages, PAGES);
  return { manifest, module, image, base, stdlib: new ZipTree(image.stdlib), memories };
}

/** Where a fast guest would be. */
export const GUESTS: string = defaultPlaces().guests;

/** The fast guest that was built on this machine; null when there is none. */
export function fastPython(): Promise<PythonManifest | null> {
  return builtPython(GUESTS);
}
