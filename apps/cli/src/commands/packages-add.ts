import {
  type AddProgress,
  type AddReport,
  addPackages,
  compilePackages,
  GuestCompiler,
  type PackageRecord,
} from "@bursar/sandbox/packages";
import { CommandError, UsageError, unknown } from "../app/errors.js";
import { bytes, counted } from "../render/quantities.js";
import { facts } from "../render/report.js";
import type { Style } from "../render/style.js";
import { COMMON_HELP, type PackagesChore, type PackagesCommand } from "./packages-work.js";

export const add: PackagesCommand = {
  help: `Usage: bursar packages add <package> … [flags]

Adds packages in pure Python, with everything they need: from PyPI where it
answers, else from Debian's packages. Hashes are compared and recorded; one
with native code is refused, because a guest cannot load it. Modules are then
compiled once, in the sandbox, so that importing them costs less fuel. Adding
again what is there already does nothing but that.

A package may be given with a version: openpyxl==3.0.9, 'jinja2>=3'.

Flags:
  --source <name>  auto, pypi or debian; auto unless said otherwise
  --no-compile     leave the modules as they are
${COMMON_HELP}

Exit codes: 0 done, 1 failed or refused, 2 not understood, 130 interrupted

Examples:
  bursar packages add openpyxl PyPDF2 jinja2
  bursar packages add 'markdown>=3.4' --source pypi
  bursar packages add PyYAML --folder packages --json | jq .added
`,
  names: "needed",
  flags: { source: { type: "string" }, "no-compile": { type: "boolean" } },
  async run(chore) {
    const { folder, names, flags, terminal, style, say } = chore;
    const source = readSource(flags.source);
    say("looking for packages");
    const report = await addPackages(names, {
      folder,
      source,
      signal: terminal.signal,
      env: terminal.env,
      progress: (each) => say(describe(each)),
    });
    const compiled = flags["no-compile"] === true ? null : await compileAll(report.packages, chore);
    return { report: reportOf(folder, report, compiled), text: addText(folder, report, compiled, style) };
  },
};

const SOURCES = ["auto", "pypi", "debian"] as const;
const SOURCE_NAMES = { pypi: "PyPI", debian: "Debian's packages" } as const;

function readSource(given: string | true | undefined): (typeof SOURCES)[number] {
  const source = SOURCES.find((each) => each === (given ?? "auto"));
  if (source !== undefined) return source;
  throw new UsageError(unknown(`the source ${given}`, String(given), SOURCES));
}

function describe(progress: AddProgress): string {
  switch (progress.kind) {
    case "source":
      return `asking ${SOURCE_NAMES[progress.source]}`;
    case "downloading":
      return `downloading ${progress.origin}`;
    default:
      return `${progress.kind} ${progress.name} ${progress.version}`;
  }
}

/** Exactly the versions that were added: the folder may hold others. */
async function compileAll(
  packages: readonly PackageRecord[],
  { folder, terminal: { signal }, say }: PackagesChore,
): Promise<number> {
  say("preparing the interpreter");
  const progress = (done: number, total: number) => say(`compiling, ${bytes(done)} of ${bytes(total)}`);
  await using compiler = new GuestCompiler({ sandbox: { packagesFolder: folder }, signal, progress });
  try {
    const exact = packages.map(({ name, version }) => `${name}==${version}`);
    return await compilePackages(folder, exact, compiler.compile, await compiler.tag());
  } catch (error) {
    signal.throwIfAborted();
    throw new CommandError(
      `the packages were added, and work, but they could not be compiled: ${(error as Error).message}; try again, or give --no-compile`,
    );
  }
}

function reportOf(folder: string, { source, packages, added, notes }: AddReport, compiled: number | null): object {
  return { ok: true, folder, source, added, compiled, notes, packages: packages.map(summaryOf) };
}

/** A package as reports show it: without its files, of which there are hundreds. */
export function summaryOf({ name, version, source, origin, sha256, licence, files }: PackageRecord): object {
  return { name, version, source, origin, sha256, licence, files: files.length, bytes: sizeOf(files) };
}

export function sizeOf(files: PackageRecord["files"]): number {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

function addText(folder: string, report: AddReport, compiled: number | null, style: Style): string {
  const { source, added, notes } = report;
  const known = report.packages.map(({ name, version }) => `${name} ${version}`);
  const before = known.filter((each) => !added.includes(each));
  const list = (each: readonly string[]) => each.join(", ");
  return facts(
    [
      ["folder", folder],
      ["source", SOURCE_NAMES[source]],
      ...(added.length === 0 ? [] : [["added", list(added)] as const]),
      ...(before.length === 0 ? [] : [["had already", list(before)] as const]),
      ["compiled", compiled === null ? "nothing, as asked" : compiledText(compiled)],
      ...notes.map((note) => ["note", note] as const),
    ],
    style,
  );
}

function compiledText(count: number): string {
  return count === 0 ? "nothing that was not compiled before" : counted(count, "module");
}
