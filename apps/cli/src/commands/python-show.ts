import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { defaultPlaces } from "@bursar/sandbox";
import {
  builtPython,
  GuestError,
  type GuestFuel,
  installedPython,
  installedPythonFolder,
  npmPython,
  type PythonManifest,
} from "@bursar/sandbox/guests";
import { CommandError } from "../app/errors.js";
import { readFlags } from "../arguments/parse-arguments.js";
import { amount } from "../render/execution.js";
import { facts } from "../render/report.js";
import { styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";

const HELP = `Usage: bursar python show [flags]

Tells which CPython sandboxed programs run in.

Flags:
  --folder <path>  where built ones are kept; else BURSAR_GUESTS, else the
                   user's cache
  --json           the report as one JSON object
  --help           this text

Exit codes: 0 done, 1 what is installed cannot be used, 2 not understood

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
type Reason = "built" | "installed" | "refused" | "none" | "damaged";

export async function showPython(args: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(args, FLAGS);
  if (flags.help) return terminal.finish(0, HELP);
  const folder = flags.folder ?? defaultPlaces(terminal.env).guests;
  const isRefused = terminal.env.BURSAR_GUEST === "npm";
  const built = isRefused ? null : await builtPython(folder);
  const installed = isRefused || built !== null ? null : await installedOne();
  const manifest = built ?? installed ?? npmPython();
  const reason = isRefused ? "refused" : reasonOf(built, installed, folder);
  if (flags.json) return terminal.finish(0, `${JSON.stringify(reportOf(manifest, folder, reason))}\n`);
  const style = styleFor(wantsColour(terminal.env, terminal.isTerminal));
  return terminal.finish(0, facts(factsOf(manifest, folder, reason), style));
}

async function installedOne(): Promise<PythonManifest | null> {
  const folder = installedPythonFolder();
  if (folder === null) return null;
  return installedPython(folder).catch((error: unknown) => {
    throw error instanceof GuestError ? new CommandError(error.message) : error;
  });
}

function reasonOf(built: PythonManifest | null, installed: PythonManifest | null, folder: string): Reason {
  if (built !== null) return "built";
  if (installed !== null) return "installed";
  return hasRemains(folder) ? "damaged" : "none";
}

/** Something was built there, but the sandbox does not take it. */
function hasRemains(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => /^[0-9a-f]{16}$/.test(name));
}

function reportOf(manifest: PythonManifest, guests: string, reason: Reason): object {
  const { name, version, wasm, sha256, stdlib, features, fuel } = manifest;
  const guest = reason === "built" || reason === "installed" ? "fast" : "npm";
  const library = stdlib.kind === "zip" ? stdlib.file : null;
  return { ok: true, guest, reason, name, version, sha256, module: wasm, library, guests, features, fuel };
}

function factsOf(
  { name, version, wasm, sha256, stdlib, fuel }: PythonManifest,
  guests: string,
  reason: Reason,
): readonly (readonly [string, string])[] {
  return [
    ["guest", `CPython ${version}, ${whatIs(reason, name)}`],
    ["module", wasm],
    ["library", stdlib.kind === "zip" ? stdlib.file : "inside of the module"],
    ["SHA-256", sha256],
    ["fuel", burns(fuel)],
    ["because", because(reason, reason === "built" ? dirname(dirname(wasm)) : guests)],
  ];
}

/** The figures that say most about a guest; `--json` has all of them. */
function burns(fuel: GuestFuel | null): string {
  if (fuel === null) return "not measured; advice goes by what each import burns";
  const [first] = fuel.work;
  const work = first === undefined ? "" : `, ${amount(first.fuel)} for ${first.name.replaceAll("`", "")}`;
  return `${amount(fuel.empty)} for an empty program${work}`;
}

function whatIs(reason: Reason, name: string): string {
  if (reason === "built") return "the fast one, built on this machine";
  return reason === "installed" ? "the fast one, installed from npm" : `the one on npm, ${name}`;
}

function because(reason: Reason, guests: string): string {
  switch (reason) {
    case "installed":
      return "@bursar/guest-cpython is installed; BURSAR_GUEST=npm would leave it out";
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
