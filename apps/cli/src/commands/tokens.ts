import { UsageError } from "../app/errors.js";
import { unknownCommand } from "../arguments/parse-arguments.js";
import { COMMON_HELP, IDS_HELP } from "../arguments/run-flags.js";
import type { Terminal } from "../terminal/terminal.js";
import { type RunsCommand, runsCommand } from "./common/run-command.js";
import { CREATE } from "./tokens-create.js";
import { LIST, REVOKE } from "./tokens-keep.js";

const HELP = `Usage: bursar tokens [command] [flags]

Who may use the server, and as what. It takes no tokens on this machine alone,
and nobody without one anywhere else. The store has nothing but their hashes.

Commands:
  list      all of them, also those that were revoked (the default)
  create    make one, and show its secret, once
  revoke    take one no more

Roles: a viewer looks; an agent also starts runs and asks for extensions; an
operator also decides, cancels and extends; an admin also makes tokens.

Flags:
${IDS_HELP}
${COMMON_HELP}

Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted

Examples:
  bursar tokens create --name ann --role operator
  bursar tokens
  bursar tokens revoke 3f9c
`;

const COMMANDS: ReadonlyMap<string, RunsCommand> = new Map([
  ["list", LIST],
  ["create", CREATE],
  ["revoke", REVOKE],
]);

export async function tokens(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return tokens(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name === undefined || name.startsWith("-")) return runsCommand(LIST, args, terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command tokens ", name, [...COMMANDS.keys()]));
  return runsCommand(command, rest, terminal);
}
