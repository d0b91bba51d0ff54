import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a folder that is its owner's alone. Those that lead to it, where they are missing, are as others' usually are. */
export function makePrivateFolder(folder: string): void {
  // A process that may write nowhere else must not touch what leads to it, not even to find that it is there.
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
