import { UsageError } from "../app/errors.js";
import { unknownCommand } from "../arguments/parse-arguments.js";
import type { Terminal } from "../terminal/terminal.js";
import { archive, backup, migrate, vacuum } from "./store-keep.js";
import { check, info } from "./store-look.js";
import { exportStore, importStore } from "./store-move.js";
import { COMMON_HELP, runStoreCommand, type StoreCommand } from "./store-work.js";

const HELP = `Usage: bursar store [command] [flags]

Looks after a store, beside whoever is using it.

Commands:
  info      what there is, how much of it, and what is open (the default)
  check     verify every chain and add up all books
  migrate   bring the tables up to date
  export    write everything to a file of JSON lines
  import    read such a file into an empty store, of either engine
  vacuum    give room back that nothing needs any more
  backup    copy a SQLite store while it is used
  archive   move chains that ended long ago to files

Flags:
${COMMON_HELP}

Exit codes:
  0    done, and nothing is wrong
  1    something is wrong, or the command failed
  2    the command line, or the URL of the store, was not understood
  130  interrupted

Examples:
  bursar store
  bursar store check --store sqlite:bursar.db
  bursar store export - --store sqlite:bursar.db |
    bursar store import - --store postgres://bursar@localhost/bursar
`;

const COMMANDS: ReadonlyMap<string, StoreCommand> = new Map([
  ["info", info],
  ["check", check],
  ["migrate", migrate],
  ["export", exportStore],
  ["import", importStore],
  ["vacuum", vacuum],
  ["backup", backup],
  ["archive", archive],
]);

export async function store(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === "--help" || name === "-h") return terminal.finish(0, HELP);
  if (name === "help") return store(rest[0] === "help" ? ["--help"] : [...rest, "--help"], terminal);
  if (name === undefined || name.startsWith("-")) return runStoreCommand(info, args, terminal);
  const command = COMMANDS.get(name);
  if (command === undefined) throw new UsageError(unknownCommand("the command store ", name, [...COMMANDS.keys()]));
  return runStoreCommand(command, rest, terminal);
}

export function isStoreCommand(name: string): boolean {
  return COMMANDS.has(name);
}
