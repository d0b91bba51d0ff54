import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../bin/bursar.js", import.meta.url));

/** What `MAIN` loads: a module that can be evaluated anew. */
const BUNDLE = fileURLToPath(new URL("../dist/bundle/main.js", import.meta.url));

const SEVERAL = fileURLToPath(new URL("./children/several.mjs", import.meta.url));

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command without a terminal. */
export function bursar(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ""): Ran {
  return ran([MAIN, ...args], env, input);
}

/** Runs it with several command lines that start nothing, all in one process. */
export function severally(
  lines: readonly (readonly string[])[],
  env: Readonly<Record<string, string>> = {},
): readonly Ran[] {
  const { status, stdout, stderr } = ran([SEVERAL, MAIN, BUNDLE, JSON.stringify(lines)], env, "");
  if (status !== 0) throw new Error(`the command lines were not all run: ${stderr}`);
  return JSON.parse(stdout) as readonly Ran[];
}

/** The same for the cases of a table: the first that is asked for has all of them run. */
export function inOne(
  lines: readonly (readonly string[])[],
  env: Readonly<Record<string, string>> = {},
): (args: readonly string[]) => Ran {
  let all: readonly Ran[] | null = null;
  return (args) => {
    all ??= severally(lines, env);
    const at = lines.findIndex((line) => JSON.stringify(line) === JSON.stringify(args));
    const found = all[at];
    if (found === undefined) throw new Error(`${args.join(" ")} is none of the command lines`);
    return found;
  };
}

function ran(args: readonly string[], env: Readonly<Record<string, string>>, input: string): Ran {
  const { FORCE_COLOR: _, BURSAR_STORE: __, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { ...inherited, ...env },
    encoding: "utf8",
    input,
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}
