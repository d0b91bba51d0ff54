import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SOURCES, sha256 } from "./sources.mjs";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** The checks look at the result and do not shape it, but for what packs the standard library and trains the meter. */
const SHAPING_CHECKS = [
  "check/host.mjs",
  "check/run-guest.mjs",
  "check/tree.mjs",
  "check/unzip.mjs",
  "check/with-stdlib.mjs",
];

/** How a build is asked for, shown and kept does not shape it either. Whatever is not named here does. */
const SHAPELESS = ["build.mjs", "build-guest.mjs", "build-guest.d.mts", "cache.mjs", "failure.mjs", "progress.mjs"];

/** The hash of the scripts that shape a guest, as they were when the build began. */
export const SCRIPTS_HASH = hashScripts(shapingScripts().map((name) => [name, readFileSync(join(FOLDER, name))]));

/** What a guest is built from. Equal hashes mean equal bytes, so it is the name of the folder that a guest lies in. */
export function buildHash(compiler, scripts = SCRIPTS_HASH, sources = SOURCES) {
  return sha256(JSON.stringify({ scripts, sources, compiler }));
}

/** The names of the scripts that shape a guest, below this folder. */
export function shapingScripts() {
  const files = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isFile());
  return [...files.map(({ name }) => name).filter((name) => !SHAPELESS.includes(name)), ...SHAPING_CHECKS].sort();
}

/** The hash of files, each a name and its bytes, in whatever order they come. */
export function hashScripts(files) {
  const lines = files.map(([name, bytes]) => `${name} ${sha256(bytes)}\n`);
  return sha256(lines.sort().join(""));
}
