import { STDLIB_FOLDER } from "../settings.mjs";
import { createFolder, place } from "./tree.mjs";
import { unzip } from "./unzip.mjs";

/** The standard library where the guest looks for it, a program, and folders to write into. */
export function withStdlib(stdlib, program) {
  const root = createFolder();
  for (const { name, bytes } of unzip(stdlib)) place(root, `${STDLIB_FOLDER}/${name}`, bytes);
  place(root, "check.py", program);
  for (const folder of ["app/", "tmp/"]) place(root, folder);
  return root;
}
