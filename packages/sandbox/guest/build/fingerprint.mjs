import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SOURCES, sha256 } from "./sources.mjs";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** The checks look at the result and do not shape it, but for what packs the standard library. */
const SHAPING_CHECKS = ["check/host.mjs", "check/run-guest.mjs", "check/tree.mjs"];

/** The hash of these scripts, as they were when the build began. */
export const SCRIPTS_HASH = hashScripts();

/** What a guest is built from. Equal hashes mean equal bytes, so it is the name of the folder that a guest lies in. */
export function buildHash(compiler) {
  return sha256(JSON.stringify({ scripts: SCRIPTS_HASH, sources: SOURCES, compiler }));
}

function hashScripts() {
  const files = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = [...files.map(({ name }) => name), ...SHAPING_CHECKS].sort();
  return sha256(names.map((name) => `${name} ${sha256(readFileSync(join(FOLDER, name)))}\n`).join(""));
}
