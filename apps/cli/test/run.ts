import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Runs the built command without a terminal. */
export function bursar(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") {
  const { FORCE_COLOR: _, BURSAR_STORE: __, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    env: { ...inherited, ...env },
    encoding: "utf8",
    input,
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}
