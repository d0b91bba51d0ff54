import { posix } from "node:path";

/** The files and every folder above them. */
export function withFolders(files: readonly string[]): ReadonlySet<string> {
  return new Set(files.flatMap(upwards));
}

function upwards(path: string): readonly string[] {
  return path === "." ? [] : [path, ...upwards(posix.dirname(path))];
}
