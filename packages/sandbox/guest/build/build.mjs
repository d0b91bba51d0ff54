// Builds the fast CPython guest; `--help` tells how, docs/GUESTS.md tells why.
import { availableParallelism, constants, setPriority } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { defaultFolder, findByScripts, folderOf, prefer, readGuest, writeGuest } from "./cache.mjs";
import { checkGuest } from "./check/check.mjs";
import { compareGuests } from "./check/compare.mjs";
import { compilePython, configurePython } from "./cpython.mjs";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";
import { buildHash, SCRIPTS_HASH } from "./fingerprint.mjs";
import { buildLibraries } from "./libraries.mjs";
import { describeGuest, licenceFiles } from "./manifest.mjs";
import { createProgress } from "./progress.mjs";
import { fetchSources } from "./sources.mjs";
import { packStdlib } from "./stdlib.mjs";
import { compilerVersions, installTools, missingTools } from "./tools.mjs";
import { createWorkspace, unpackSources } from "./workspace.mjs";

const HELP = `Usage: npm run build:guest -- [flags]

Builds CPython for the sandbox with full optimization, from Debian 12's
packages, in some minutes. What was built before is not built again.

Flags:
  --folder <path>   where guests are kept (${defaultFolder()})
  --jobs <number>   how many compilers may run at a time (all cores)
  --force           build it even if it is there
  --no-compare      leave out the comparison with the guest on npm
  --json            the result as JSON on stdout
  --help            this text

Exit codes: 0 the guest is there, 1 the build failed, 2 wrong usage,
3 packages are missing and only root may install them, 4 Debian's archive
cannot be reached.
`;

/** What the command line asks for. */
function given() {
  const options = {
    folder: { type: "string" },
    jobs: { type: "string" },
    force: { type: "boolean", default: false },
    "no-compare": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  };
  try {
    const { values } = parseArgs({ options });
    const width = values.jobs === undefined ? availableParallelism() : Number(values.jobs);
    if (!Number.isSafeInteger(width) || width < 1 || width > 256) {
      throw new Error(`--jobs has to be a whole number from 1 to 256, not ${values.jobs}`);
    }
    if (values.folder === "") throw new Error("--folder has to be a path");
    return { ...values, width, guests: resolve(values.folder ?? defaultFolder()), compare: !values["no-compare"] };
  } catch (error) {
    throw new BuildFailure(`${error.message.split(". ")[0]}; see --help`, EXIT_CODES.usage);
  }
}

/** The guest that is there already, if nobody insists on a new one. */
async function findGuest({ guests, force }) {
  if (force) return null;
  if (missingTools().length > 0) return findByScripts(guests, SCRIPTS_HASH);
  const folder = folderOf(guests, buildHash(await compilerVersions()));
  return readGuest(folder) === null ? null : folder;
}

async function buildGuest({ guests, width }, progress) {
  const missing = missingTools();
  if (missing.length > 0) await progress.step(`Installing ${missing.join(", ")}`, () => installTools(missing));
  const compiler = await compilerVersions();
  const sources = join(guests, "sources");
  await progress.step("Fetching the sources", () => fetchSources(sources));

  const workspace = createWorkspace(width);
  try {
    await progress.step("Unpacking them", () => unpackSources(workspace, sources));
    const files = await makeGuest(workspace, compiler, progress);
    const folder = writeGuest(guests, buildHash(compiler), files);
    workspace.remove();
    return folder;
  } catch (error) {
    process.stderr.write(`What was built so far is kept in ${workspace.root}\n`);
    throw error;
  }
}

/** Every file of the guest, by name. */
async function makeGuest(workspace, compiler, progress) {
  await progress.step("Compiling zlib, bzip2 and SQLite", () => buildLibraries(workspace));
  await progress.step("Configuring CPython", () => configurePython(workspace));
  const wasm = await progress.step("Compiling CPython", () => compilePython(workspace));
  const module = new WebAssembly.Module(wasm);
  const stdlib = await progress.step("Packing the standard library", () => packStdlib(workspace, module));
  const facts = await progress.step("Checking what was built", () => checkGuest(wasm, stdlib));
  const licences = licenceFiles(workspace, compiler);
  const manifest = describeGuest({ wasm, stdlib, facts, licences, hash: buildHash(compiler), compiler });
  return [
    [manifest.wasm.file, wasm],
    [manifest.stdlib.file, stdlib],
    ...licences.map(({ file, text }) => [file, text]),
    ["manifest.json", `${JSON.stringify(manifest, null, 2)}\n`],
  ];
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
  const progress = createProgress();
  const found = await findGuest(options);
  const folder = found ?? (await buildGuest(options, progress));
  const manifest = readGuest(folder);
  if (manifest === null) throw new BuildFailure(`${folder} was changed while it was written`, EXIT_CODES.failed);
  prefer(options.guests, manifest.build.hash);
  const built = found === null;
  const comparison =
    built && options.compare
      ? await progress.step("Comparing it with the guest on npm", () => compareGuests(folder))
      : null;
  const result = { built, folder, manifest, comparison, seconds: progress.totalSeconds(), steps: progress.steps };
  process.stdout.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : describe(result));
}

/** What a person can do something about is told in a sentence; anything else is a mistake of ours. */
function told(error) {
  if (error instanceof BuildFailure) return error.message;
  return typeof error.code === "string" && "syscall" in error ? error.message : error.stack;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`build:guest: ${told(error)}\n`);
  process.exitCode = error instanceof BuildFailure ? error.exitCode : EXIT_CODES.failed;
}
