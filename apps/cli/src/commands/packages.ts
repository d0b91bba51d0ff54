import { UsageError } from "../app/errors.js";
import { unknownCommand } from "../arguments/parse-arguments.js";
import type { Terminal } from "../terminal/terminal.js";
import { add } from "./packages-add.js";
import { licences, list } from "./packages-look.js";
import { remove } from "./packages-remove.js";
import { COMMON_HELP, type PackagesCommand, runPackagesCommand } from "./packages-work.js";

const HELP = `Usage: bursar packages [command] [flags]

Looks after the Python packages that sandboxed programs can import. They are
kept in a folder, and a session mounts those that it names.

Commands:
  list      what is there (the default)
  add       fetch packages with all they need, and compile them
  remove    remove packages
  licences  under which licences they are

Flags:
${COMMON_HELP}

Exit codes:
  0    done, and nothing is wrong
  1    something is wrong, or the command failed
  2    the command line, or a name in it, was not understood
  130  interrupted

Examples:
  bursar packages add openpyxl
  bursar exec report.py --package openpyxl
  bursar packages
`;

const COMMANDS: ReadonlyMap<string, PackagesCommand> = new Map([
  ["list", list],
  ["add", add],
  ["remove", remove],
  ["licences", licences],
]);

export async function packages(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return packages(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name === undefined || name.startsWith("-")) return runPackagesCommand(list, args, terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command packages ", name, [...COMMANDS.keys()]));
  return runPackagesCommand(command, rest, terminal);
}
