import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { defaultPlaces } from "@bursar/sandbox";
import { builtPython, npmPython, type PythonManifest } from "@bursar/sandbox/guests";
import { readFlags } from "../args.js";
import { facts } from "../render/report.js";
import { styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal.js";

const HELP = `Usage: bursar python show [flags]

Tells which CPython sandboxed programs run in.

Flags:
  --folder <path>  where built ones are kept; else BURSAR_GUESTS, else the
                   user's cache
  --json           the report as one JSON object
  --help           this text

Exit codes: 0 done, 2 not understood

Examples:
  bursar python show
  BURSAR_GUEST=npm bursar python show
  bursar python show --json | jq -r .sha256
`;

const FLAGS = {
  folder: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Why it is this guest that is used. */
type Reason = "built" | "refused" | "none" | "damaged";

export async function showPython(args: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(args, FLAGS);
  if (flags.help) return terminal.finish(0, HELP);
  const folder = flags.folder ?? defaultPlaces(terminal.env).guests;
  const isRefused = terminal.env.BURSAR_GUEST === "npm";
  const built = isRefused ? null : await builtPython(folder);
  const manifest = built ?? npmPython();
  const reason = isRefused ? "refused" : built !== null ? "built" : hasRemains(folder) ? "damaged" : "none";
  if (flags.json) return terminal.finish(0, `${JSON.stringify(reportOf(manifest, folder, reason))}\n`);
  const style = styleFor(wantsColour(terminal.env, terminal.isTerminal));
  return terminal.finish(0, facts(factsOf(manifest, folder, reason), style));
}

/** Something was built there, but the sandbox does not take it. */
function hasRemains(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => /^[0-9a-f]{16}$/.test(name));
}

function reportOf({ name, version, wasm, sha256, stdlib }: PythonManifest, guests: string, reason: Reason): object {
  const guest = reason === "built" ? "fast" : "npm";
  const library = stdlib.kind === "zip" ? stdlib.file : null;
  return { ok: true, guest, reason, name, version, sha256, module: wasm, library, guests };
}

function factsOf(
  { name, version, wasm, sha256, stdlib }: PythonManifest,
  guests: string,
  reason: Reason,
): readonly (readonly [string, string])[] {
  const what = reason === "built" ? "the fast one, built on this machine" : `the one on npm, ${name}`;
  return [
    ["guest", `CPython ${version}, ${what}`],
    ["module", wasm],
    ["library", stdlib.kind === "zip" ? stdlib.file : "inside of the module"],
    ["SHA-256", sha256],
    ["because", because(reason, reason === "built" ? dirname(dirname(wasm)) : guests)],
  ];
}

function because(reason: Reason, guests: string): string {
  switch (reason) {
    case "built":
      return `it is in ${guests}; BURSAR_GUEST=npm would leave it out`;
    case "refused":
      return "BURSAR_GUEST is npm; without it, a built one would be preferred";
    case "damaged":
      return `what was built in ${guests} is damaged, or of another kind; bursar python build makes it anew`;
    case "none":
      return `none was built in ${guests}; bursar python build makes one that is faster`;
  }
}
