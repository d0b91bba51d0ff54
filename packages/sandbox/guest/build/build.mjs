// Builds the fast CPython guest; `--help` tells how, docs/GUESTS.md tells why.
import { availableParallelism, constants, setPriority } from "node:os";
import { parseArgs } from "node:util";
import { buildGuest } from "./build-guest.mjs";
import { defaultFolder } from "./cache.mjs";
import { BuildFailure, EXIT_CODES, told } from "./failure.mjs";

const HELP = `Usage: npm run build:guest -- [flags]

Builds CPython for the sandbox with full optimization, from Debian 12's
packages, in some minutes. What was built before is not built again.

Flags:
  --folder <path>       where guests are kept (${defaultFolder()})
  --compilers <number>  how many compilers may run at a time (all cores)
  --force               build it even if it is there
  --no-compare          leave out the comparison with the guest on npm
  --json                the result as JSON on stdout
  --help                this text

Exit codes: 0 the guest is there, 1 the build failed, 2 wrong usage,
3 packages are missing and only root may install them, 4 Debian's archive
cannot be reached, 130 interrupted.
`;
const INTERRUPTED = 130;

/** What the command line asks for. */
function given() {
  const options = {
    folder: { type: "string" },
    compilers: { type: "string" },
    force: { type: "boolean", default: false },
    "no-compare": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  };
  try {
    const { values } = parseArgs({ options });
    const compilers = values.compilers === undefined ? availableParallelism() : Number(values.compilers);
    if (!Number.isSafeInteger(compilers) || compilers < 1 || compilers > 256) {
      throw new Error(`--compilers has to be a whole number from 1 to 256, not ${values.compilers}`);
    }
    if (values.folder === "") throw new Error("--folder has to be a path");
    return { ...values, compilers, folder: values.folder ?? defaultFolder(), compare: !values["no-compare"] };
  } catch (error) {
    throw new BuildFailure(`${error.message.split(". ")[0]}; see --help`, EXIT_CODES.usage);
  }
}

function describe({ folder, manifest, built, comparison, seconds }) {
  const size = ({ bytes }) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  const lines = [
    built ? `CPython ${manifest.version} was built in ${seconds} s` : `CPython ${manifest.version} is there already`,
    `  folder   ${folder}`,
    `  module   ${size(manifest.wasm)}, SHA-256 ${manifest.wasm.sha256}`,
    `  library  ${size(manifest.stdlib)}, SHA-256 ${manifest.stdlib.sha256}`,
  ];
  if (comparison !== null) {
    const kinds = Object.entries(comparison.ratios).map(([kind, ratio]) => `${kind} ${ratio}`);
    lines.push(`  speed    ${comparison.geometricMean} × the guest on npm (${kinds.join(", ")})`);
  }
  return `${lines.join("\n")}\n`;
}

async function main() {
  const options = given();
  if (options.help) return process.stdout.write(HELP);
  // Minutes of compiling should not get into the way of whoever works at this machine.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"]) {
    process.once(name, () => stopping.abort(new BuildFailure("stopped", INTERRUPTED)));
  }
  const onStep = (name, seconds) => process.stderr.write(`${seconds.toFixed(1).padStart(7)} s  ${name}\n`);
  const result = await buildGuest({ ...options, signal: stopping.signal, onStep });
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : describe(result));
}

try {
  await main();
} catch (error) {
  process.stderr.write(`build:guest: ${told(error)}\n`);
  process.exitCode = error instanceof BuildFailure ? error.exitCode : EXIT_CODES.failed;
}
