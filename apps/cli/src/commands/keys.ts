import { UsageError } from "../app/errors.js";
import { unknownCommand } from "../arguments/parse-arguments.js";
import { COMMON_HELP, IDS_HELP } from "../arguments/run-flags.js";
import type { Terminal } from "../terminal/terminal.js";
import { type RunsCommand, runsCommand } from "./common/run-command.js";
import { CREATE } from "./keys-create.js";
import { LIST, REVOKE, ROTATE } from "./keys-keep.js";

const HELP = `Usage: bursar keys [command] [flags]

The keys of the gateway: each stands for a budget, and the store has nothing but
its hash. A gateway that runs sees what is changed here within a second.

Commands:
  list      all of them, also those that were revoked (the default)
  create    make one, and show its secret, once
  rotate    give one a new secret; the old one is taken for a while longer
  revoke    take one no more

Flags:
${IDS_HELP}
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar keys create --label alice --limits cost_usd=10
  bursar keys
  bursar keys rotate 3f9c --grace 1h
`;

const COMMANDS: ReadonlyMap<string, RunsCommand> = new Map([
  ["list", LIST],
  ["create", CREATE],
  ["rotate", ROTATE],
  ["revoke", REVOKE],
]);

export async function keys(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return keys(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name === undefined || name.startsWith("-")) return runsCommand(LIST, args, terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command keys ", name, [...COMMANDS.keys()]));
  return runsCommand(command, rest, terminal);
}
