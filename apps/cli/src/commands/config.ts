import { UsageError } from "../app/errors.js";
import { unknownCommand } from "../arguments/parse-arguments.js";
import type { Terminal } from "../terminal/terminal.js";
import { check } from "./config-check.js";
import { init } from "./config-init.js";
import { schema } from "./config-schema.js";
import { show } from "./config-show.js";
import { COMMON_HELP, type ConfigCommand, runConfigCommand } from "./config-work.js";

const HELP = `Usage: bursar config [command] [flags]

What agents may use is written in bursar.yaml: in the user's own folder, in
this folder and in those above it. The user's own file has the last word, and
those of folders can only tighten it; without one of your own, the outermost
folder's has it. Without a file the defaults count.

Commands:
  show      what a run gets, and which line says so (the default)
  check     look for mistakes in a file, and tell all of them
  init      write a file to begin with
  schema    print the JSON Schema of the file, for editors

Flags:
${COMMON_HELP}

Exit codes:
  0    done, and nothing is wrong
  1    something is wrong, or what was asked for is refused
  2    the command line was not understood

Examples:
  bursar config init
  bursar config check
  bursar config show --policy strict
  bursar config show --agent researcher --budget cost_usd=0.50,steps=20
`;

const COMMANDS: ReadonlyMap<string, ConfigCommand> = new Map([
  ["show", show],
  ["check", check],
  ["init", init],
  ["schema", schema],
]);

export async function config(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return config(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name === undefined || name.startsWith("-")) return runConfigCommand(show, args, terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command config ", name, [...COMMANDS.keys()]));
  return runConfigCommand(command, rest, terminal);
}
