import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runGuest } from "./check/run-guest.mjs";
import { contentOf, createFolder, place } from "./check/tree.mjs";
import { sysconfigData } from "./cpython.mjs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";
import { HOME, OMITTED_FILES, STDLIB_FOLDER } from "./settings.mjs";

const PACK = readFileSync(new URL("pack.py", import.meta.url));

/** Compiles the standard library with the guest itself and gives it as one archive. */
export async function packStdlib(workspace, module) {
  const files = await stdlibFiles(workspace);
  const root = createFolder();
  for (const folder of ["source", STDLIB_FOLDER]) {
    for (const [name, bytes] of files) place(root, `${folder}/${name}`, bytes);
  }
  place(root, "pack.py", PACK);
  const args = ["python", "-B", "/pack.py", "/source", STDLIB_FOLDER, "/stdlib.zip"];
  const { exitCode, stderr } = runGuest(module, { args, env: { PYTHONHOME: HOME }, root });
  if (exitCode !== 0) throw new BuildFailure(`the standard library could not be packed: ${stderr}`, EXIT_CODES.failed);
  return contentOf(root, "stdlib.zip");
}

async function stdlibFiles(workspace) {
  const lib = join(workspace.treeOf("python3.11"), "Lib");
  const files = readdirSync(lib, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(lib.length + 1))
    .filter((name) => !OMITTED_FILES.some((omitted) => name === omitted || name.startsWith(omitted)))
    .sort()
    .map((name) => [name, readFileSync(join(lib, name))]);
  const { name, text } = await sysconfigData(workspace);
  return [...files, [name, Buffer.from(text)]];
}
