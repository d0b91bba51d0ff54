import { defaultPlaces } from "@bursar/sandbox";
import { PackageError } from "@bursar/sandbox/packages";
import { CommandError, UsageError } from "../app/errors.js";
import { readArguments } from "../arguments/parse-arguments.js";
import { type Style, styleFor, wantsColour } from "../render/style.js";
import { StatusLine } from "../terminal/status-line.js";
import type { Terminal } from "../terminal/terminal.js";

/** What every command about packages understands. */
const COMMON = {
  folder: { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export const COMMON_HELP = `  --folder <path>  where packages are kept; else BURSAR_PACKAGES, else the
                   user's own folder
  --json           the report as one JSON object
  --quiet          nothing but the exit code, and what fails
  --help           this text`;

type Extra = Readonly<Record<string, { readonly type: "boolean" | "string" }>>;
type Given = Readonly<Record<string, string | true | undefined>>;

/** One command about packages. */
export interface PackagesCommand {
  readonly help: string;
  readonly flags?: Extra;
  /** Whether names of packages have to follow, may follow, or make no sense. */
  readonly names: "needed" | "allowed" | "none";
  readonly run: (chore: PackagesChore) => Promise<Done>;
}

export interface PackagesChore {
  readonly folder: string;
  readonly names: readonly string[];
  readonly flags: Given;
  readonly terminal: Terminal;
  readonly style: Style;
  /** Says what is being done, while somebody looks. */
  readonly say: (text: string) => void;
}

/** What came out: for programs, for people, and as an exit code. */
interface Done {
  readonly report: object;
  readonly text: string;
  readonly code?: number;
}

const MOST_NAMES = 200;

/** Runs a command about packages, with everything that is the same for all of them. */
export async function runPackagesCommand(
  command: PackagesCommand,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const options = { ...COMMON, ...command.flags };
  const { flags, words: names } = readArguments(args, options, command.names === "none" ? 0 : MOST_NAMES);
  if (flags.help) return terminal.finish(0, command.help);
  if (command.names === "needed" && names.length === 0) {
    throw new UsageError("name at least one package, as in openpyxl");
  }
  const folder = flags.folder ?? defaultPlaces(terminal.env).packages;
  const style = styleFor(wantsColour(terminal.env, terminal.isTerminal));
  try {
    const done = await working(command, { folder, names, flags: flags as Given, terminal, style });
    return terminal.finish(
      done.code ?? 0,
      flags.json ? `${JSON.stringify(done.report)}\n` : flags.quiet ? "" : done.text,
    );
  } catch (error) {
    return failed(error, flags.json === true, terminal);
  }
}

/** The line is gone before anything else is written. */
async function working(command: PackagesCommand, chore: Omit<PackagesChore, "say">): Promise<Done> {
  using line = new StatusLine(chore.flags.quiet === true ? null : chore.terminal.aside);
  return await command.run({ ...chore, say: line.show });
}

/** A name that is none was not understood; everything else that was refused has failed. */
function failed(error: unknown, json: boolean, { signal, finish }: Terminal): number {
  if (signal.aborted) return 130;
  const isOurs = error instanceof PackageError || error instanceof CommandError;
  if (!isOurs) throw error;
  const code = error instanceof PackageError ? error.code : "failed";
  const isMisread = code === "package_name";
  if (json) {
    const report = { ok: false, error: { code, message: error.message } };
    return finish(isMisread ? 2 : 1, `${JSON.stringify(report)}\n`);
  }
  throw isMisread ? new UsageError(error.message) : new CommandError(error.message);
}
