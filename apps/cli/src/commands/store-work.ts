import { BursarError } from "bursar";
import { type Housekeeping, openHousekeeping, type WorkOptions } from "bursar/store";
import { CommandError, UsageError } from "../app/errors.js";
import { readArguments } from "../arguments/parse-arguments.js";
import { type Style, styleFor, wantsColour } from "../render/style.js";
import { ProgressBar } from "../terminal/progress-bar.js";
import type { Terminal } from "../terminal/terminal.js";
import { configOf } from "./common/place.js";

/** What every command about a store understands. */
const COMMON = {
  store: { type: "string" },
  config: { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export const COMMON_HELP = `  --store <url>    sqlite:<file>, postgres://user@host/database?schema=<name>;
                   else the one of the configuration, else BURSAR_STORE,
                   else the user's own store
  --config <file>  the configuration, if it is not found by itself
  --json           the report as one JSON object
  --quiet          nothing but the exit code, and what fails
  --help           this text`;

type Extra = Readonly<Record<string, { readonly type: "boolean" | "string" }>>;
type Given = Readonly<Record<string, string | true | undefined>>;

/** One command about a store. */
export interface StoreCommand {
  readonly help: string;
  readonly flags?: Extra;
  /** The word it needs beside its flags, as the help calls it. */
  readonly word?: string;
  readonly run: (chore: Chore) => Promise<Done>;
}

interface Chore {
  readonly housekeeping: Housekeeping;
  readonly word: string;
  readonly flags: Given;
  readonly options: Required<WorkOptions>;
  readonly terminal: Terminal;
  readonly style: Style;
}

/** What came out: for programs, for people, and as an exit code. */
interface Done {
  readonly report: object;
  readonly text: string;
  readonly code?: number;
}

/** Runs a command about a store, with everything that is the same for all of them. */
export async function runStoreCommand(
  command: StoreCommand,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const options = { ...COMMON, ...command.flags };
  const { flags, words } = readArguments(args, options, command.word === undefined ? 0 : 1);
  if (flags.help) return terminal.finish(0, command.help);
  const [word = ""] = words;
  if (command.word !== undefined && word === "") throw new UsageError(`${command.word} is missing`);
  const { signal, finish } = terminal;
  try {
    await using housekeeping = openHousekeeping(urlOf(flags as Given, terminal));
    const style = styleFor(wantsColour(terminal.env, terminal.isTerminal));
    const done = await working(command, { housekeeping, word, flags: flags as Given, terminal, style });
    return finish(done.code ?? 0, flags.json ? `${JSON.stringify(done.report)}\n` : flags.quiet ? "" : done.text);
  } catch (error) {
    if (signal.aborted) return 130;
    if (!flags.json || !(error instanceof BursarError || error instanceof CommandError)) throw error;
    const code = error instanceof BursarError ? error.code : "failed";
    const report = { ok: false, error: { code, message: error.message } };
    return finish(code === "store_url" ? 2 : 1, `${JSON.stringify(report)}\n`);
  }
}

/** The same store that runs are in, or somebody would back up another one. */
function urlOf(flags: Given, terminal: Terminal): string | undefined {
  if (typeof flags.store === "string") return flags.store;
  return configOf(flags, terminal).store?.url;
}

/** The bar is gone before anything else is written. */
async function working(command: StoreCommand, chore: Omit<Chore, "options">): Promise<Done> {
  const { aside, signal } = chore.terminal;
  using bar = new ProgressBar(chore.flags.quiet === true ? null : aside);
  const progress: WorkOptions["progress"] = (each) => {
    signal.throwIfAborted();
    bar.show(each);
  };
  return await command.run({ ...chore, options: { progress, signal } });
}
