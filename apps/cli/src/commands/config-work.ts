import { BursarError } from "bursar";
import { ConfigError, ConfigLocationError } from "bursar/config";
import { openHousekeeping } from "bursar/store";
import { CommandError } from "../app/errors.js";
import { readArguments } from "../arguments/parse-arguments.js";
import { type Style, styleFor, wantsColour } from "../render/style.js";
import type { Terminal } from "../terminal/terminal.js";

/** What every command about the configuration understands. */
const COMMON = {
  config: { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

export const COMMON_HELP = `  --config <file>  the file; else BURSAR_CONFIG, else the user's own,
                   which bursar.yaml here and above can only tighten
  --json           the report as one JSON object
  --quiet          nothing but the exit code, and what fails
  --help           this text`;

type Extra = Readonly<Record<string, { readonly type: "boolean" | "string" }>>;
export type Given = Readonly<Record<string, string | undefined>>;

/** One command about the configuration. */
export interface ConfigCommand {
  readonly help: string;
  readonly flags?: Extra;
  /** Whether a file may follow. */
  readonly takesFile?: true;
  readonly run: (chore: ConfigChore) => Done;
}

export interface ConfigChore {
  /** The file that was named, as a word or with --config. */
  readonly file: string | undefined;
  readonly flags: Given;
  readonly terminal: Terminal;
  readonly style: Style;
}

/** What came out: for programs, for people, and as an exit code. */
export interface Done {
  readonly report: object;
  readonly text: string;
  readonly code?: number;
}

/** Whether the URL of a store makes sense; nothing is opened. */
export function checkStore(url: string): void {
  if (url !== "memory:") openHousekeeping(url);
}

/** Runs a command about the configuration, with everything that is the same for all of them. */
export async function runConfigCommand(
  command: ConfigCommand,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const options = { ...COMMON, ...command.flags };
  const { flags, words } = readArguments(args, options, command.takesFile ? 1 : 0);
  if (flags.help) return terminal.finish(0, command.help);
  const style = styleFor(wantsColour(terminal.env, terminal.isTerminal));
  const file = words[0] ?? flags.config;
  try {
    const done = command.run({ file, flags: flags as Given, terminal, style });
    return terminal.finish(
      done.code ?? 0,
      flags.json ? `${JSON.stringify(done.report)}\n` : flags.quiet ? "" : done.text,
    );
  } catch (error) {
    if (!flags.json || !(error instanceof BursarError || error instanceof CommandError)) throw error;
    return terminal.finish(1, `${JSON.stringify(failure(error))}\n`);
  }
}

function failure(error: Error): object {
  const code = error instanceof ConfigLocationError || error instanceof ConfigError ? error.code : "failed";
  const problems = error instanceof ConfigError ? { problems: error.problems } : {};
  return { ok: false, error: { code, message: error.message }, ...problems };
}
