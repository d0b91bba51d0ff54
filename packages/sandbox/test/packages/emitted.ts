import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const SOURCE = fileURLToPath(new URL("../../src/packages/packages.ts", import.meta.url));
const COMPILER = fileURLToPath(new URL("../../../../node_modules/typescript/bin/tsc", import.meta.url));
const OPTIONS = [
  "--module",
  "nodenext",
  "--target",
  "es2022",
  "--lib",
  "es2023,esnext.disposable",
  "--types",
  "node",
  "--noCheck",
];

/** Compiles what is tested into a folder, so that a process without a test runner can import it. Gives the file to import. */
export async function emitPackages(folder: string): Promise<string> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await promisify(execFile)(process.execPath, [COMPILER, SOURCE, "--ignoreConfig", "--outDir", folder, ...OPTIONS]);
  return join(folder, "packages.js");
}
