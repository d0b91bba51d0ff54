import { setFlagsFromString } from "node:v8";

/** From this version on V8 reads hints by itself. */
const SINCE = [13, 7] as const;

/**
 * Makes V8 read the hints about branches that `meter` writes, in modules that are compiled from now on. Without them everything
 * works and counts the same, only slower.
 */
export function enableBranchHints(): void {
  const [major = 0, minor = 0] = process.versions.v8.split(".").map(Number);
  const knows = major > SINCE[0] || (major === SINCE[0] && minor >= SINCE[1]);
  if (!knows) setFlagsFromString("--experimental-wasm-branch-hinting");
}
