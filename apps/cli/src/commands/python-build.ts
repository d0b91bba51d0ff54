import { availableParallelism, constants, setPriority } from "node:os";
import { resolve } from "node:path";
import { defaultPlaces } from "@bursar/sandbox";
import { BuildFailure, type BuiltGuest, buildGuest } from "@bursar/sandbox/guest-build";
import { CommandError, UsageError } from "../app/errors.js";
import { readFlags } from "../arguments/parse-arguments.js";
import { bytes } from "../render/quantities.js";
import { facts } from "../render/report.js";
import { styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";
import { BuildSteps } from "./python-steps.js";

const HELP = `Usage: bursar python build [flags]

Builds CPython for the sandbox with full optimization, from Debian 12's
packages, in some minutes. As root it installs the packages it needs; otherwise
it says which are missing. What was built before is not built again.

Flags:
  --folder <path>       where guests are kept; else BURSAR_GUESTS, else the
                        user's cache
  --compilers <number>  how many compilers may run at a time: one for each core
                        unless said otherwise
  --force               build it even if it is there
  --compare             measure how much faster than the one on npm it is,
                        which takes a minute
  --json                the report as one JSON object
  --quiet               say nothing unless it fails
  --help                this text

Exit codes:
  0    it is there
  1    the build failed, or what was built does not keep its promises
  2    the command line was not understood
  3    packages are missing, and only root may install them
  4    Debian's archive cannot be reached
  130  interrupted

Examples:
  bursar python build
  bursar python build --folder guests --json | jq -r .sha256
`;

const FLAGS = {
  folder: { type: "string" },
  compilers: { type: "string" },
  force: { type: "boolean" },
  compare: { type: "boolean" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const MOST_COMPILERS = 256;
/** What the build's own exit codes are called in a report. */
const CODES: Readonly<Record<number, string>> = { 3: "packages_missing", 4: "archive_unreachable" };

export async function buildPython(args: readonly string[], terminal: Terminal): Promise<number> {
  const flags = readFlags(args, FLAGS);
  if (flags.help) return terminal.finish(0, HELP);
  const compilers = readCompilers(flags.compilers);
  const folder = resolve(flags.folder ?? defaultPlaces(terminal.env).guests);
  // Minutes of compiling should not get into the way of whoever works at this machine.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  try {
    const guest = await building(terminal, flags.quiet === true, {
      folder,
      compilers,
      signal: terminal.signal,
      force: flags.force === true,
      compare: flags.compare === true,
    });
    if (flags.json) return terminal.finish(0, `${JSON.stringify(reportOf(guest))}\n`);
    return terminal.finish(0, flags.quiet ? "" : textOf(guest, terminal));
  } catch (error) {
    return failed(error, flags.json === true, terminal);
  }
}

function readCompilers(text: string | undefined): number {
  const compilers = text === undefined ? availableParallelism() : Number(text);
  if (Number.isSafeInteger(compilers) && compilers >= 1 && compilers <= MOST_COMPILERS) return compilers;
  throw new UsageError(`--compilers is ${text}; allowed: a whole number from 1 to ${MOST_COMPILERS}`);
}

/** The line is gone before anything else is written. */
async function building(
  { aside }: Terminal,
  quiet: boolean,
  options: NonNullable<Parameters<typeof buildGuest>[0]>,
): Promise<BuiltGuest> {
  using steps = new BuildSteps(quiet ? null : (aside ?? "lines"));
  return await buildGuest({ ...options, onStep: steps.show });
}

function reportOf({ built, folder, manifest, comparison, seconds, steps }: BuiltGuest): object {
  const { version, wasm, stdlib, build } = manifest;
  return {
    ok: true,
    built,
    folder,
    version,
    sha256: wasm.sha256,
    hash: build.hash,
    wasm,
    stdlib,
    comparison,
    seconds,
    steps,
  };
}

function textOf({ built, folder, manifest, comparison, seconds }: BuiltGuest, { env, isTerminal }: Terminal): string {
  const { version, wasm, stdlib, build } = manifest;
  return facts(
    [
      ["guest", `CPython ${version}, ${built ? `built in ${Math.round(seconds)} s` : "there already"}`],
      ["folder", folder],
      ["module", `${bytes(wasm.bytes)}, SHA-256 ${wasm.sha256}`],
      ["library", `${bytes(stdlib.bytes)}, SHA-256 ${stdlib.sha256}`],
      ["build", build.hash],
      ...(comparison === null ? [] : [["speed", `${comparison.geometricMean} × the guest on npm`] as const]),
    ],
    styleFor(wantsColour(env, isTerminal)),
  );
}

/** The exit code is the build's own. */
function failed(error: unknown, json: boolean, { signal, finish }: Terminal): number {
  if (signal.aborted) return 130;
  if (!(error instanceof BuildFailure)) throw error;
  const { exitCode, message, missing, command } = error;
  if (json) {
    const report = { ok: false, error: { code: CODES[exitCode] ?? "failed", message, missing, command } };
    return finish(exitCode, `${JSON.stringify(report)}\n`);
  }
  if (exitCode === 1) throw new CommandError(message);
  process.stderr.write(`bursar: ${message}\n`);
  return exitCode;
}
