import { UsageError } from "../app/errors.js";
import { unknownCommand } from "../arguments/parse-arguments.js";
import { COMMON_HELP } from "../arguments/run-flags.js";
import type { Terminal } from "../terminal/terminal.js";
import { type RunsCommand, runsCommand } from "./common/run-command.js";
import { LIST, SETTLE } from "./holds-work.js";

const HELP = `Usage: bursar holds [command] [flags]

What calls under way hold in budgets, and whose they are. A process that holds
something says every few seconds that it is alive. What a killed one has left is
settled by any gateway, server or worker within a minute: model calls are
charged as reserved, others are given back. The same can be done here at once.

Commands:
  list      all of them, with their processes, alive or dead (the default)
  settle    settle what dead processes have left

Flags:
  --of <budget>      those in this budget alone
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar holds
  bursar holds settle --json
`;

const COMMANDS: ReadonlyMap<string, RunsCommand> = new Map([
  ["list", LIST],
  ["settle", SETTLE],
]);

export async function holds(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return holds(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name === undefined || name.startsWith("-")) return runsCommand(LIST, args, terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command holds ", name, [...COMMANDS.keys()]));
  return runsCommand(command, rest, terminal);
}
