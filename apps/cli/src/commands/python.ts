import { UsageError } from "../app/errors.js";
import { readFlags, unknownCommand } from "../arguments/parse-arguments.js";
import type { Terminal } from "../terminal/terminal.js";
import { buildPython } from "./python-build.js";
import { showPython } from "./python-show.js";

const HELP = `Usage: bursar python <command> [flags]

Looks after the CPython that sandboxed programs run in. One comes with bursar
and needs nothing; a faster one is built on this machine, once, or installed
as @bursar/guest-cpython, and is then preferred.

Commands:
  show   which one is used, its version, its hash, and where it is
  build  build the faster one from Debian 12's packages, in some minutes

Flags:
  --help  this text; after a command, the text of that command

Environment:
  BURSAR_GUESTS  where built ones are kept; else the user's cache
  BURSAR_GUEST   npm: never use a faster one

Exit codes:
  0    done
  1    failed
  2    the command line was not understood
  130  interrupted

Examples:
  bursar python show
  bursar python build
`;

const COMMANDS: ReadonlyMap<string, (args: readonly string[], terminal: Terminal) => Promise<number>> = new Map([
  ["show", showPython],
  ["build", buildPython],
]);

export async function python(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return python(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name.startsWith("-")) readFlags(args, { help: { type: "boolean", short: "h" } });
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command python ", name, [...COMMANDS.keys()]));
  return command(rest, terminal);
}
